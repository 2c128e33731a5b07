"""Write the deepeval runs of this folder: a metric without a model, six test cases, two runs; no network."""

import os
import sys

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
os.environ["DEEPEVAL_RESULTS_FOLDER"] = sys.argv[1]
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Overlap(BaseMetric):
    """The share of expected words that are there."""

    def __init__(self):
        self.threshold = 0.5
        self.async_mode = False

    def measure(self, test_case, *args, **kwargs):
        wanted = test_case.expected_output.split()
        self.score = sum(word in test_case.actual_output.split() for word in wanted) / len(wanted)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Overlap"


cases = [
    LLMTestCase(
        input=f"What is {n}?",
        expected_output=f"it is {n}",
        actual_output=f"it is {n if n % int(sys.argv[2]) else 'odd'}",
    )
    for n in range(1, 7)
]
evaluate(
    cases,
    [Overlap()],
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    hyperparameters={"model": sys.argv[3]},
)
