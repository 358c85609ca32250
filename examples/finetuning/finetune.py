"""Train a LoRA adapter on exported rows, and save the model with the adapter merged into it.

python finetune.py MODEL DATA OUTPUT
"""

import sys

from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForImageTextToText, AutoProcessor
from trl import SFTConfig, SFTTrainer

model, data, output = sys.argv[1:]
processor = AutoProcessor.from_pretrained(model)
# Split into prompt and completion, so that TRL computes the loss on the answer only.
rows = load_dataset(data, split="train").map(
    lambda row: {"prompt": row["messages"][:1], "completion": row["messages"][1:]},
    remove_columns=["messages"],
)
trainer = SFTTrainer(
    model=AutoModelForImageTextToText.from_pretrained(model, dtype="float32"),
    args=SFTConfig(
        output_dir=output,
        num_train_epochs=6,
        learning_rate=2e-3,
        per_device_train_batch_size=8,
        max_length=None,  # truncation would cut off part of the picture
        save_strategy="no",
        report_to="none",
        bf16=False,  # remove this line and the next if you have a GPU
        use_cpu=True,
    ),
    train_dataset=rows,
    processing_class=processor,
    peft_config=LoraConfig(r=16, lora_alpha=32, target_modules=r".*language_model.*_proj"),
)
trainer.train()
trainer.model.merge_and_unload().save_pretrained(output)
processor.save_pretrained(output)
