"""What people said about explanations of V-FLUTE, and how well ExplanationScore predicts it.

Source: arXiv 2405.01474, Table 6 and sections 5.1 and 5.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PUBLISHED: Mapping[str, Any] = {
    "source": "V-FLUTE, arXiv 2405.01474: Table 6, sections 5.1 and 5.3; 95 samples, two experts",
    "systems": [
        {"name": "LLaVA-7B eViL+VF", "adequacy_rate": 0.3378, "preference_rate": 0.2308},
        {"name": "LLaVA-34B SG", "adequacy_rate": 0.2985, "preference_rate": 0.0769},
        {"name": "GPT-4 (5 shot)", "adequacy_rate": 0.5067, "preference_rate": 0.4423},
    ],
    "average_kappa": 0.47,
    "area": 0.79,
    "best_f1": 0.77,
    "threshold": 0.53,
}
"""The paper's figures for ``figlang judge agree``. Rates are shares, 0 to 1.

- systems: Table 6.
- average_kappa: Cohen's kappa of the two experts (section 5.1). The paper does not say over what it
  is the average.
- area, best_f1, threshold: adequacy predicted by ExplanationScore (section 5.3): the area under the
  precision-recall curve, the largest F1, and the threshold that has it. The paper does not say
  whether steps or straight lines join the points of the curve.
"""
