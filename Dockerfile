# With CUDA:  docker build -t figlang_tasks .
# For a CPU:  docker build -t figlang_tasks --build-arg TORCH="torch torchvision --index-url ADDRESS" .
#             ADDRESS is PyTorch's package index for the CPU; its installation page names it.
#
# docker run --rm --gpus all -v figlang_cache:/cache -v "$PWD/results:/work/results" -e HF_TOKEN figlang_tasks \
#   lmms_eval --tasks vflute --model figlang_vlm --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct \
#   --batch_size 8 --log_samples --output_path results
#
# METEOR and SPICE of metaclue_caption need Java too: apt-get install default-jre-headless.
FROM python:3.12-slim
ARG TORCH="torch torchvision"
# No quotes: TORCH is several words.
RUN pip install --no-cache-dir $TORCH
COPY . /src
RUN pip install --no-cache-dir '/src[demo]'
ENV HF_HOME=/cache/huggingface FIGLANG_CACHE=/cache/figlang
WORKDIR /work
CMD ["figlang", "doctor"]
