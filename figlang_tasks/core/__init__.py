"""What everything stands on: data, pictures, prompts, requests, text."""
