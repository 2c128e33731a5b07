"""Which of eight prompts reads amounts best, for 20 cents? A fixed question set, a judge, prices, a budget in money.

Each question is a line from an expense report, each prompt a way to ask for the amount in it. In place of a model that
is asked over a network a few lines of Python answer here, so that the example runs anywhere; `ask` is `async`, as a
real one would be. A judge compares what came back with the right amount. Longer prompts cost more with every call.

Asking all 240 questions of all prompts would cost 52 cents. Every prompt meets the questions in the same random order,
so any two are compared on the same ones, and what is estimated is the mean over these 240 questions.

Writes prompts.png and prompts.html; needs matplotlib (pip install "ramgape[plot]").
"""

import asyncio
import random
import re

import ramgape

PLACES = ["Taxi", "Lunch with Ana", "Hotel Sol", "Paper, 2 packs", "Train 4711", "Coffee for 5", "Stamps", "Room 12"]
FORMS = ["{} EUR", "{} €", "€{}", "EUR {}", "total {}", "{}", "({})", "paid {} on 3.12."]


def write_amount(cents: int, style: int) -> str:
    """The same amount in different hands: 1234.50, 1.234,50, 1,234.50, 1234,5, 1234."""
    whole, rest = divmod(cents, 100)
    plain = f"{whole}.{rest:02}"
    grouped = f"{whole:,}.{rest:02}"
    if style == 1:
        return grouped.translate(str.maketrans(",.", ".,"))
    if style == 2:
        return grouped
    if style == 3:
        return plain.rstrip("0").replace(".", ",").rstrip(",")
    return plain


def make_questions(count: int = 240) -> dict[str, float]:
    """Lines from expense reports, and the amounts in them."""
    draw, questions = random.Random(1), {}
    while len(questions) < count:
        cents = draw.choice([draw.randrange(100, 9_999), draw.randrange(10_000, 999_999, 50)])
        amount = write_amount(cents, draw.randrange(4))
        line = f"{draw.choice(PLACES)}: {draw.choice(FORMS).format(amount)}"
        questions[line] = cents / 100
    return questions


QUESTIONS = make_questions()


def read(text: str, pattern: str, *, decimal_comma: bool, last: bool) -> float:
    """A small reader of numbers, better or worse by how it is instructed."""
    found = re.findall(pattern, text) or ["0"]
    number = found[-1 if last else 0]
    if decimal_comma and re.search(r",\d{1,2}$", number):
        number = number.replace(".", "").replace(",", ".")
    try:
        return float(number.replace(",", ""))
    except ValueError:
        return 0.0


NUMBER, GROUPED = r"\d+(?:\.\d+)?", r"\d[\d.,]*\d|\d"
# Of each prompt: what it says, and what the stand-in for a model makes of it.
PROMPTS = {
    "bare": ("Amount?", (NUMBER, False, False)),
    "last number": ("Give the last number.", (NUMBER, False, True)),
    "careful": ("Give the amount. Mind thousands separators.", (GROUPED, False, False)),
    "careful, last": ("Give the last amount. Mind thousands separators.", (GROUPED, False, True)),
    "european": ("Give the amount. A comma may be a decimal comma.", (GROUPED, True, False)),
    "european, last": ("Give the last amount. A comma may be a decimal comma.", (GROUPED, True, True)),
    "examples": (
        "Give the last amount. 1.234,50 is 1234.50; 7,5 is 7.50; 3,000.00 is 3000. " * 2,
        (GROUPED, True, True),
    ),
    "step by step": ("Think step by step about every number, then give the last amount. " * 3, (GROUPED, True, True)),
}
CENTS_PER_WORD = 0.0012


async def ask(prompt: str, question: str) -> float:
    """One call: what the stand-in answers, and what the judge thinks of it."""
    _, (pattern, decimal_comma, last) = PROMPTS[prompt]
    await asyncio.sleep(0)  # here a real call would wait for its answer
    line = re.sub(r" on \S+$", "", question) if prompt == "step by step" else question  # it knows a date
    return judge(read(line, pattern, decimal_comma=decimal_comma, last=last), QUESTIONS[question])


def judge(answer: float, right: float) -> float:
    """1 for the right amount, a half for one that is off by a power of ten, 0 otherwise."""
    if abs(answer - right) < 0.005:
        return 1.0
    return 0.5 if any(abs(answer - right * 10.0**power) < 0.005 for power in (-2, -1, 1, 2)) else 0.0


def price_of(prompt: str) -> float:
    """Cents for a call: by the words of the prompt, and some ten of a question."""
    return CENTS_PER_WORD * (len(PROMPTS[prompt][0].split()) + 10)


def main() -> None:
    """Find the best prompt that 20 cents can prove."""
    prices = {prompt: price_of(prompt) for prompt in PROMPTS}
    result = ramgape.identify(
        ask,
        list(PROMPTS),
        items=list(QUESTIONS),
        reward_range=(0, 1),
        task="best",
        epsilon=0.05,
        price=prices,
        spend=20.0,
        workers=8,
        seed=1,
    )
    print(result)
    everything = len(QUESTIONS) * sum(prices.values())
    print(f"\nSpent {result.spent:.1f} cents; to ask all of all would have cost {everything:.1f}.")
    result.save_plot("prompts.png")
    result.save_report("prompts.html")


if __name__ == "__main__":
    main()
