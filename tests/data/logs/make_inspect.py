"""Write the inspect_ai logs of this folder: two mock models, 12 questions, 2 epochs, 2 scorers; no network."""

import random
import sys

import inspect_ai
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match


@task
def sums(seed: int = 1):
    samples = [
        Sample(id=f"sum-{n}", input=f"What is {n} + {n}?", target=str(2 * n), metadata={"page": n // 3})
        for n in range(12)
    ]
    return Task(dataset=samples, scorer=[match(), includes()], epochs=2)


def mock(name, chance, seed):
    draw = random.Random(seed)

    def answer(messages, tools, tool_choice, config):
        number = int(messages[-1].text.split()[2])
        text = str(2 * number) if draw.random() < chance else draw.choice([f"{2 * number}, or {number}", "unknown"])
        output = ModelOutput.from_content(name, text)
        output.usage = ModelUsage(input_tokens=9, output_tokens=len(text), total_tokens=9 + len(text))
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer)


form, folder = sys.argv[1:]
for number, (name, chance) in enumerate((("small", 0.5), ("large", 0.9)), start=1):
    inspect_ai.eval(
        sums(), model=mock(name, chance, number), log_format=form, log_dir=folder, display="none", max_samples=1
    )
