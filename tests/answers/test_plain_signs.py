"""Signs of an answer are made plain alike in all threads, for lmms-eval judges in several."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from figlang_tasks.answers import text

WIDE_B = "\uff22"
THREADS = 3


def test_no_thread_sees_a_sign_before_it_is_plain() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            for _ in range(300):
                table = text._Plain()
                start = Barrier(THREADS)

                def translate(table: text._Plain = table, start: Barrier = start) -> str:
                    start.wait()
                    return WIDE_B.translate(table)

                translations = [pool.submit(translate) for _ in range(THREADS)]
                assert {translation.result() for translation in translations} == {"B"}
    finally:
        sys.setswitchinterval(interval)
