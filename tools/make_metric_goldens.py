"""Makes `tests/fixtures/bleurt` and `tests/fixtures/deberta`: tiny random checkpoints and what the original packages
score with them.

    python tools/make_metric_goldens.py [--venv FOLDER]

The packages (`bleurt-pytorch`, `bert-score`) need transformers 4, so they get a virtual environment of their own
(about 7 GB with torch), in which this script runs itself again. No pretrained weight is used; vocabularies are trained
on the texts of `figlang_mini`. Same versions, same bytes.

Layout of a `golden.json`: `{"origin": {...}, "cases": [...]}`. A text is a string or `{"repeat": [text, n]}`, which
stands for `text * n`. A score that is not a number is the string "nan", so `float(case["recall"])` reads all of them.
A case on which the original raises has `error` instead of scores.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import random
import re
import runpy
import subprocess
import tempfile
import unicodedata
import venv
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

REQUIREMENTS = (
    "transformers==4.57.6",
    "bleurt-pytorch==0.0.1",
    "bert-score==0.3.13",
    "sentencepiece==0.2.1",
    "tokenizers==0.22.2",
    "torch==2.9.1",
    "numpy>=2,<3",
    # BleurtTokenizer tries the fast class first and survives its failure only where protobuf is there
    "protobuf==6.33.6",
)
LIMIT = 512
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
BLEURT_VOCABULARY = 500
DEBERTA_VOCABULARY = 800
BERT_SCORE_LAYERS = 4
SEED = 20

# `("ab", 3)` is "ababab", see the layout above
Text = str | tuple[str, int]


def said() -> tuple[list[str], list[str]]:
    """Claims and explanations of `figlang_mini`.

    Read from the file, which needs nothing but the standard library: the environment of the originals does not have
    what an import of `figlang_tasks` asks for.
    """
    rows = runpy.run_path(str(ROOT / "tools" / "mini" / "texts.py"))["rows"]
    found = [*rows("train"), *rows("test")]
    return [row.claim for row in found], [row.explanation for row in found]


def corpus() -> list[str]:
    """What both vocabularies are trained on: the project's own texts."""
    return list(chain.from_iterable(zip(*said(), strict=True)))


# ---------------------------------------------------------------- cases


def cases() -> list[tuple[str, Text, Text]]:
    """Name, reference and candidate of every case.

    "a " is one token in both vocabularies (checked before scoring), so its repetitions hit the limit exactly.
    """
    claims, explanations = said()
    found: list[tuple[str, Text, Text]] = []

    def add(name: str, *pairs: tuple[Text, Text]) -> None:
        found.extend((f"{name} {i}", *pair) for i, pair in enumerate(pairs))

    plain = explanations[0]
    add("explanations", *((explanations[i], explanations[i + 1]) for i in range(0, 24, 3)))
    add("explanation and claim", *((explanations[i], claims[i]) for i in (1, 14, 27)))
    add("claim and explanation", *((claims[i], explanations[i]) for i in (5, 18, 31)))
    add("claims", *((claims[i], claims[i + 7]) for i in (2, 12, 22)))
    add("equal", (plain, plain), (claims[3], claims[3]), ("a", "a"))
    add("swapped", (claims[2], claims[0]), (claims[0], claims[2]))
    add("twice", (claims[4], explanations[4]), (claims[4], explanations[4]))
    add("nearly equal", (plain, plain.lower()), (plain, plain.rstrip(".")), (plain, plain.replace("image", "picture")))
    add("tiny", ("yes", "no"), ("!", "?"), ("x", plain), (plain, "7"))

    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    add("emoji", ("So happy 🙂🙂 today", "So happy today 😀"), (f"{family} 👍🏽", "family 👪"), ("🔥", "🔥🔥🔥"))
    add("east asian", ("时间就是金钱。", "時は金なり"), ("ﾊﾝｶｸ カタカナ", "ハンカク カタカナ"))
    add("hangul", ("한국어", unicodedata.normalize("NFD", "한국어")))
    add("right to left", ("الوقتُ من ذهب", "זמן הוא כסף"), ("שָׁלוֹם abc", "\u202bשלום\u202c abc"))
    add("accents", ("Café naïve Åsa", unicodedata.normalize("NFD", "Café naïve Åsa")), ("a\u0301\u0323\u0308b", "áb"))
    add("compatibility", ("ﬁne Ⅷ x² ™ ½ ｗｉｄｅ", "fine VIII x2 TM 1⁄2 wide"), ("𝐛𝐨𝐥𝐝", "bold"), ("ß İ", "ss i"))
    add("indic and thai", ("समय धन है", "เวลาเป็นเงินเป็นทอง"))
    add("invisible", ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"), ("\ufeffa mule", "a mule\u2060"))
    add("odd code points", ("\ue000 \U0010fffd \ufffd", "\ufffe\uffff"), ("▁the ▁image", "the image"), ("Ġthe", "the"))

    add("spaces", ("The  image   shows", "The image shows"), ("  The image", "The image  "), (" a  ", "\u3000a\u00a0"))
    lines = "a\u2028b\x85c\x0bd\x0ce"
    add("lines", ("The\timage\nshows\r\na mule", "The image shows a mule\n\n"), (lines, "a b"))
    add("empty", ("", ""), (plain, ""), ("", plain))
    add("blank", (" ", "\t\n "), (plain, "   "), ("\u00a0\u3000", plain), ("\u200b", plain))
    add("controls", ("a\x00b\x01c", "abc"), ("\x1b[31mred\x1b[0m \x7f\x08", "red"), ("\x00", "\x1f"))
    add("quotes", ("\"I'll\" say 'don't' we've", "“I’ll” say ‘don’t’ we’ve"), ('{"a": ["b\\n"]}', "«a» `b` ''c''"))
    add("figures", ("1,234.50 € (−3 %) #1 @you", "1234.5 EUR"), ("https://a.example/b?c=d%20", "<b>a</b> &amp; _x_"))

    for special in SPECIALS:
        bare = special.strip("[]")
        add(
            f"literal {bare}",
            (f"The mule {special} is slow", "The mule is slow"),
            (f"mule{special}slow", f"  {special}  mule{special}{special} slow {special} "),
            (special, f"{special.lower()} [{special}] {special[:-1]} {bare}"),
        )
    both = "".join(SPECIALS)
    add("literal mixed", ("[CLS] a mule [SEP] a snail [SEP]", both), ("［ＭＡＳＫ］ ［SEP］", "[S[SEP]EP]"))
    add("literal only", ("A mule", "[SEP]"), ("[SEP][CLS]", "[CLS]"), ("[MASK] [SEP]", "[PAD] [UNK]"))
    add("literal other", ("<unk> <s>a</s> <pad>", "<mask> ##ing |<endoftext>|"), ("a<unk>b", "ab"), ("<0x0A>", "\n"))

    word = "a "
    fit = LIMIT - 3
    ties = ((254, 255), (255, 254), (255, 255), (256, 255), (255, 256), (256, 256), (300, 209), (300, 210), (210, 300))
    add("pair limit", *(((word, a), (word, b)) for a, b in ties), ((word, fit), ""), ("", (word, fit + 1)))
    add("single limit", *(((word, a), (word, b)) for a, b in ((509, 510), (511, 510), (1, 508), (1, 509), (510, 1))))
    long, other, half = (plain + " ", 30), (explanations[7] + " ", 30), (explanations[9] + "\n", 9)
    add("long", (long, other), (long, claims[0]), (claims[0], long), (long, ""), ("", long), (long, long))
    add("long and half", (long, half), (half, long))
    add("long, special", (("the [SEP] ", 300), ("the[MASK] ", 300)), (("x[CLS]", 400), "x"), (("[PAD]", 600), "the"))
    add("long word", (("ab", 700), "ab"), (("😀", 600), "😀"), (("\u0301", 300), ("é", 600)), ((" ", 2000), "the"))

    # no text of a model has one, but a JSON file may; `json` writes it as an escape
    add("lone surrogate", ("a \ud83d b", "a b"))
    return found


def random_texts(count: int, seed: int) -> list[str]:
    """Strings of the corpus' words, special tokens whole and in part, and all sorts of Unicode but surrogates."""
    rng = random.Random(seed)
    words = sorted({word for text in corpus() for word in text.split()})
    gaps = ["", "", " ", " ", " ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u200b", "\u2028", "\x00", "\x85"]
    odd = [*SPECIALS, "[", "]", "[S", "SEP]", "[[CLS]]", "[sep]", "［ＳＥＰ］", "<unk>", "<s>", "</s>", "<pad>", "##a"]
    odd += ["'s", "'ll", "I'M", "''", "``", "…", "▁", "Ġ", "🙂", "\u200d", "é", "e\u0301", "ﬁ", "Ⅷ", "\ufeff", "\u00ad"]
    blocks = [(0, 0x7F), (0x80, 0x24F), (0x300, 0x36F), (0x370, 0x5FF), (0x600, 0x6FF), (0x900, 0xE7F)]
    blocks += [(0x1100, 0x11FF), (0x2000, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)]
    blocks += [(0xF900, 0xFFFF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF), (0x10000, 0x10FFFF)]

    def item() -> str:
        kind = rng.random()
        if kind < 0.4:
            return rng.choice(words)
        if kind < 0.65:
            return rng.choice(odd)
        return "".join(chr(rng.randint(*rng.choice(blocks))) for _ in range(rng.randint(1, 6)))

    return ["".join(rng.choice(gaps) + item() for _ in range(rng.randint(0, 14))) for _ in range(count)]


def whole(text: Text) -> str:
    return text if isinstance(text, str) else text[0] * text[1]


def stored(text: Text) -> Any:
    return text if isinstance(text, str) else {"repeat": list(text)}


def number(value: float) -> float | str:
    """JSON knows no NaN."""
    return value if value == value else "nan"


def scored(score: Callable[[str, str], dict[str, Any]]) -> list[dict[str, Any]]:
    """Every case with what `score` says of it, or with the error that the original raises."""
    done = []
    for name, reference, candidate in cases():
        case = {"name": name, "reference": stored(reference), "candidate": stored(candidate)}
        try:
            case |= score(whole(reference), whole(candidate))
        except AssertionError:
            raise
        except Exception as error:  # whatever it is, it is what the original does
            case["error"] = f"{type(error).__name__}: {error}"
        done.append(case)
    return done


# ---------------------------------------------------------------- checkpoints


def randomise(model: Any, gain: float) -> None:
    """Give every parameter its own random values, biases and LayerNorms too: a swap of two of them must show.

    `gain` scales the matrices beyond what keeps the variance, so that the scores of different texts differ clearly.
    """
    import torch

    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, value in sorted(model.named_parameters()):
            noise = torch.randn(value.shape, generator=generator)
            if value.dim() == 2:
                value.copy_(noise if "embeddings" in name else noise * gain / value.shape[1] ** 0.5)
            else:
                value.copy_(noise * 0.2 + ("LayerNorm.weight" in name))


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def make_bleurt(folder: Path) -> None:
    """A BLEURT-20 in small, as the hub has it: `spm.model`, `pytorch_model.bin` and what the tokenizer saves."""
    import sentencepiece
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
    from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer

    model = io.BytesIO()
    # Pieces of each kind that the tokenizer must find by name. The unknown piece is sentencepiece's own "<unk>", not
    # the tokenizer's "[UNK]"; a control piece never comes out of an encoded text, a user-defined one does.
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()),
        model_writer=model,
        model_type="unigram",
        vocab_size=BLEURT_VOCABULARY,
        character_coverage=1.0,
        pad_id=0,
        pad_piece="[PAD]",
        unk_id=1,
        bos_id=-1,
        eos_id=-1,
        control_symbols=["[UNK]", "[CLS]", "[SEP]"],
        user_defined_symbols=["[MASK]"],
        num_threads=1,
        minloglevel=2,
    )
    (folder / "spm.model").write_bytes(model.getvalue())
    BleurtSPTokenizer(str(folder / "spm.model")).save_pretrained(folder)

    config = BleurtConfig(
        vocab_size=BLEURT_VOCABULARY,
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=32,
        max_position_embeddings=LIMIT,
        num_labels=1,
    )
    bleurt = BleurtForSequenceClassification(config)
    randomise(bleurt, gain=1.5)
    bleurt.save_pretrained(folder, safe_serialization=False)


def make_deberta(folder: Path) -> None:
    """A deberta-xlarge-mnli in small, as the hub has it: a classifier's weights, `vocab.json` and `merges.txt`."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import DebertaConfig, DebertaForSequenceClassification

    bpe = ByteLevelBPETokenizer()
    first = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    bpe.train_from_iterator(corpus(), DEBERTA_VOCABULARY - 1, special_tokens=first, show_progress=False)
    learnt = json.loads(bpe.to_str())["model"]
    write_json(folder / "vocab.json", learnt["vocab"] | {"[MASK]": len(learnt["vocab"])})
    merges = "".join(f"{left} {right}\n" for left, right in learnt["merges"])
    (folder / "merges.txt").write_text("#version: 0.2\n" + merges, encoding="utf-8")
    write_json(folder / "tokenizer_config.json", {"do_lower_case": False, "vocab_type": "gpt2"})

    settings: dict[str, Any] = {
        "model_type": "deberta",
        "architectures": ["DebertaForSequenceClassification"],
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": 32,
        "initializer_range": 0.02,
        "intermediate_size": 48,
        "max_position_embeddings": LIMIT,
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "layer_norm_eps": 1e-7,
        "max_relative_positions": -1,
        "position_biased_input": False,
        "type_vocab_size": 0,
        "num_attention_heads": 4,
        "num_hidden_layers": 6,
        "id2label": {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"},
        "label2id": {"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2},
        "pad_token_id": 0,
        "pooler_dropout": 0,
        "pooler_hidden_act": "gelu",
        "vocab_size": len(learnt["vocab"]) + 1,
    }
    deberta = DebertaForSequenceClassification(DebertaConfig.from_dict(dict(settings)))
    randomise(deberta, gain=2.0)
    deberta.save_pretrained(folder, safe_serialization=False)
    # the hub's configuration has no trace of transformers' newer fields
    write_json(folder / "config.json", settings)


# ---------------------------------------------------------------- BLEURT


def plain_ids(pieces: Any, reference: str, candidate: str) -> tuple[list[int], list[int]]:
    """`input_ids` and `token_type_ids` with nothing but sentencepiece, to be equal to the original tokenizer's.

    The special tokens are cut out of the raw text first, before sentencepiece normalises it, and looked up by piece;
    each stretch between them is a text of its own, with its own leading space. Too long a pair loses tokens at the end
    of the longer side, on a tie at the end of the second.
    """

    def encode(text: str) -> list[int]:
        ids: list[int] = []
        for part in re.split("(" + "|".join(map(re.escape, SPECIALS)) + ")", text):
            ids += [pieces.piece_to_id(part)] if part in SPECIALS else pieces.encode(part)
        return ids

    first, second = encode(reference), encode(candidate)
    while len(first) + len(second) > LIMIT - 3:
        (first if len(first) > len(second) else second).pop()
    cls, sep = pieces.piece_to_id("[CLS]"), pieces.piece_to_id("[SEP]")
    return [cls, *first, sep, *second, sep], [0] * (len(first) + 2) + [1] * (len(second) + 1)


def rembert(folder: Path) -> Any:
    """The same weights in transformers' RemBERT, which has the same architecture under other names."""
    import torch
    from transformers import RemBertConfig, RemBertForSequenceClassification

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    shared = ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]
    shared += ["hidden_act", "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "pad_token_id"]
    settings = {name: config[name] for name in shared}
    settings |= {"input_embedding_size": config["embedding_size"], "num_labels": 1}
    model = RemBertForSequenceClassification(RemBertConfig(**settings))
    names = {"bleurt.": "rembert.", "encoder.embedding_projection": "encoder.embedding_hidden_mapping_in"}
    weights = torch.load(folder / "pytorch_model.bin", weights_only=True)
    weights.pop("bleurt.embeddings.position_ids")
    for old, new in names.items():
        weights = {name.replace(old, new): value for name, value in weights.items()}
    model.load_state_dict(weights, strict=True)
    return model.eval()


def bleurt_golden(folder: Path) -> dict[str, Any]:
    """Tokens and logits of every case, each scored alone; checks `plain_ids` and `rembert` on the way."""
    import sentencepiece
    import torch
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    tokenizer = BleurtTokenizer.from_pretrained(str(folder))
    model = BleurtForSequenceClassification.from_pretrained(str(folder), dtype=torch.float32).eval()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
    twin = rembert(folder)
    apart = 0.0

    if len(tokenizer("a " * 9)["input_ids"]) != 11:
        raise RuntimeError('the cases at the limit need "a " to be one token')

    def score(reference: str, candidate: str) -> dict[str, Any]:
        nonlocal apart
        encoded = tokenizer(reference, candidate, truncation=True, max_length=LIMIT, return_tensors="pt")
        ids, types = encoded["input_ids"][0].tolist(), encoded["token_type_ids"][0].tolist()
        if plain_ids(pieces, reference, candidate) != (ids, types):
            raise AssertionError(f"plain sentencepiece differs: {reference!r}, {candidate!r}")
        with torch.no_grad():
            logit = model(**encoded).logits.item()
            apart = max(apart, abs(logit - twin(**encoded).logits.item()))
        return {"input_ids": ids, "token_type_ids": types, "logit": number(logit)}

    done = scored(score)
    texts = random_texts(1000, SEED)
    for reference, candidate in zip(texts[::2], texts[1::2], strict=True):
        encoded = tokenizer(reference, candidate, truncation=True, max_length=LIMIT)
        if plain_ids(pieces, reference, candidate) != (encoded["input_ids"], encoded["token_type_ids"]):
            raise AssertionError(f"plain sentencepiece differs: {reference!r}, {candidate!r}")
    logits = torch.tensor([case["logit"] for case in done if "logit" in case], dtype=torch.float64)
    print(f"bleurt: {len(done)} cases, logits {logits.mean():.3f} ± {logits.std():.3f}, RemBERT differs by {apart:.1e}")
    return {
        "origin": origin(
            "bleurt-pytorch",
            "sentencepiece",
            tokenizer=f"{type(tokenizer).__name__}(reference, candidate, truncation=True, max_length={LIMIT})",
            logit="BleurtForSequenceClassification in float32, eval mode, on the CPU, one pair at a time",
            rembert=f"transformers' RemBertForSequenceClassification with these weights: at most {apart:.1e} away",
        ),
        "cases": done,
    }


# ---------------------------------------------------------------- BERTScore


def deberta_golden(folder: Path) -> dict[str, Any]:
    """Tokens and BERTScore of every case, each scored alone; F1 also in batches of 64."""
    import torch
    from bert_score import BERTScorer
    from bert_score.utils import sent_encode

    # bert-score takes a model for T5 if "t5" is anywhere in its name: give it no path that could have one
    os.chdir(folder.parent)
    scorer = BERTScorer(model_type=folder.name, num_layers=BERT_SCORE_LAYERS, device="cpu", nthreads=0)
    tokenizer = scorer._tokenizer
    unset = tokenizer.model_max_length
    tokenizer.model_max_length = LIMIT
    if len(sent_encode(tokenizer, "a " * 9)) != 11:
        raise RuntimeError('the cases at the limit need "a " to be one token')

    def score(reference: str, candidate: str) -> dict[str, Any]:
        ids = {
            "reference_ids": sent_encode(tokenizer, reference),
            "candidate_ids": sent_encode(tokenizer, candidate),
        }
        found = scorer.score([candidate], [reference], batch_size=1)
        return ids | {
            name: number(value.item()) for name, value in zip(("precision", "recall", "f1"), found, strict=True)
        }

    done = scored(score)
    good = [(i, whole(r), whole(c)) for i, (_, r, c) in enumerate(cases()) if "error" not in done[i]]
    batched = scorer.score([c for _, _, c in good], [r for _, r, _ in good], batch_size=64)[2].tolist()
    for (i, _, _), value in zip(good, batched, strict=True):
        done[i]["f1_batch_64"] = number(value)
    apart = max(abs(done[i]["f1"] - done[i]["f1_batch_64"]) for i, _, _ in good)
    f1 = torch.tensor([done[i]["f1"] for i, _, _ in good], dtype=torch.float64)
    print(f"deberta: {len(done)} cases, F1 {f1.mean():.3f} ± {f1.std():.3f}, batches of 64 differ by {apart:.1e}")
    return {
        "origin": origin(
            "bert-score",
            tokenizer=f"bert_score.utils.sent_encode with {type(tokenizer).__name__}; model_max_length is set to "
            f"{LIMIT} from outside (without that it is {unset}, and nothing is cut)",
            scores=f"bert_score.BERTScorer(model_type=FOLDER, num_layers={BERT_SCORE_LAYERS}, device='cpu'), no idf, "
            "no rescaling, batch_size=1, one pair at a time",
            f1_batch_64=f"all cases without an error in one call with batch_size=64: at most {apart:.1e} away",
        ),
        "cases": done,
    }


# ---------------------------------------------------------------- files and environment


def origin(*packages: str, **how: str) -> dict[str, Any]:
    """Where the values come from."""
    names = (*packages, "transformers", "tokenizers", "torch", "numpy")
    return {
        "script": "tools/make_metric_goldens.py",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "packages": {name: version(name) for name in names},
        "how": how,
    }


def write_golden(path: Path, golden: dict[str, Any]) -> None:
    """One case per line, in ASCII: controls, bidirectional marks and odd spaces would not survive every editor."""
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in golden["cases"])
    head = json.dumps(golden["origin"], indent=1)
    path.write_text(f'{{"origin": {head},\n"cases": [\n{lines}\n]}}\n', encoding="ascii")


def inside(output: Path) -> None:
    """The work, in the environment that has the original packages."""
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    steps: Iterable[tuple[str, Callable[[Path], None], Callable[[Path], dict[str, Any]]]] = (
        ("bleurt", make_bleurt, bleurt_golden),
        ("deberta", make_deberta, deberta_golden),
    )
    for name, make, golden in steps:
        folder = output / name
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        write_golden(folder / "golden.json", golden(folder))
        for path in sorted(folder.iterdir()):
            print(f"{path.stat().st_size:8} {name}/{path.name}")


def outside(folder: Path, output: Path) -> None:
    """Create the environment and run this script in it."""
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    python = binaries / "python"
    if not (folder / "pyvenv.cfg").exists():
        venv.create(folder, with_pip=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", *REQUIREMENTS], check=True)
    subprocess.run([*pip, "freeze"], check=True)
    # bert-score batches texts in the order of a set: a fixed hash seed makes that repeatable
    environment = os.environ | {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [str(python), str(Path(__file__).resolve()), "--inside", "--output", str(output)]
    subprocess.run(command, check=True, env=environment)


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; see `--help`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, help="environment to create or to use again (default: a temporary one)")
    parser.add_argument("--output", type=Path, default=ROOT / "tests" / "fixtures", help="default: tests/fixtures")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    output = args.output.resolve()
    if args.inside:
        inside(output)
    elif args.venv:
        outside(args.venv.resolve(), output)
    else:
        with tempfile.TemporaryDirectory() as folder:
            outside(Path(folder), output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
