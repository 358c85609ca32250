"""Readers of a model's answer: yes or no, an option, a label. Each returns a `verdict.Read`.

Every reader is pure, takes any string in linear time, and never raises on what a model wrote. None
guesses: where a careful reader would not say what is meant, there is no value, and the status says
why.

A reader goes from the output to a value in four steps, and the modules share these words for them:

* The *output* is all that the model said: "<think>A boat?</think>The answer is **B**.". Its
  *answer* is what is left without thoughts, in plain signs: "The answer is   B  ."
  (`thoughts`, `output`, `text`).
* A *mention* is a place of the answer that names a value: "B", "yes", "contradicts".
  Mentions that are joined, as in "A and B", are one *group*.
* A mention is *announced* by words before it ("The answer is"), *denied* ("not B"), *hedged* ("may
  be B"), or part of an *echo*, which repeats what the prompt offered ("A, B, C or D", "yes or no").
  What is left is *evidence*: a stretch of the answer, its value, and the rule that found it.
* A reader has *tiers*, functions from the surest kind of evidence to the weakest. The first that
  has evidence decides. Two values in one tier are a *conflict*, unless a *correction* ("no wait")
  stands between them (`verdict.decide`).
"""
