"""Trains a LoRA adapter on exported rows, and writes the model with it: python finetune.py MODEL
DATA OUTPUT
"""

import sys

from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForImageTextToText, AutoProcessor
from trl import SFTConfig, SFTTrainer

model, data, output = sys.argv[1:]
processor = AutoProcessor.from_pretrained(model)
# TRL takes the messages as they are; split into prompt and completion, the loss is that of the
# answer alone.
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
        max_length=None,  # a cut would fall on the picture
        save_strategy="no",
        report_to="none",
        bf16=False,  # on a GPU leave these two lines out
        use_cpu=True,
    ),
    train_dataset=rows,
    processing_class=processor,
    peft_config=LoraConfig(r=16, lora_alpha=32, target_modules=r".*language_model.*_proj"),
)
trainer.train()
trainer.model.merge_and_unload().save_pretrained(output)
processor.save_pretrained(output)
