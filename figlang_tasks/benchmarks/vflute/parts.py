"""The names of V-FLUTE's report groups in tables of results (arXiv 2405.01474, Table 3)."""

from __future__ import annotations

from figlang_tasks.core.presentation import Part, Parts

PARTS = Parts(
    kind="source",
    by_scope={
        "vismet": Part("HAIVMet (vismet)"),
        "irfl_metaphor_simile": Part("IRFL (metaphor / simile)"),
        "irfl_idiom": Part("IRFL (idiom)"),
        "muse": Part("MuSE"),
        "memecap": Part("MemeCap"),
        "nycartoons": Part(
            "NYCartoons",
            note="NYCartoons is all entailment: one row that counts as wrong halves its macro F1."
            " Read accuracy beside it.",
        ),
    },
)
"""The report groups (`figlang_tasks.benchmarks.vflute.rows.REPORT_GROUPS`), in the same order.

Tables call a group a source.
"""
