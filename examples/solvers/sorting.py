"""Sort numbers by one of five methods, written out in Python: sorting.py METHOD COUNT SEED.

The data are the kind that programs meet: mostly in order but for a few neighbours, one time in ten in no order at all.
Some methods like the one, some the other, and some do not care.
"""

import random
import sys

SHUFFLED = 0.1  # share of the runs whose numbers are in no order


def make_numbers(count: int, generator: random.Random) -> list[int]:
    """What is to be sorted."""
    numbers = list(range(count))
    if generator.random() < SHUFFLED:
        generator.shuffle(numbers)
    for _ in range(count // 100):
        place = generator.randrange(count - 1)
        numbers[place], numbers[place + 1] = numbers[place + 1], numbers[place]
    return numbers


def sort_by_insertion(numbers: list[int], generator: random.Random) -> list[int]:
    """Each number goes down to its place: quick where it is there already, hopeless where it is not."""
    for place, number in enumerate(numbers):
        while place > 0 and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number
    return numbers


def sort_by_gaps(numbers: list[int], generator: random.Random) -> list[int]:
    """Insertion over wide gaps first, then over smaller ones: never hopeless, but not indifferent either."""
    gap = len(numbers) // 2
    while gap:
        for place in range(gap, len(numbers)):
            number = numbers[place]
            while place >= gap and numbers[place - gap] > number:
                numbers[place] = numbers[place - gap]
                place -= gap
            numbers[place] = number
        gap = gap * 4 // 9
    return numbers


def sort_by_merging(numbers: list[int], generator: random.Random) -> list[int]:
    """Two sorted halves become one, whatever they look like."""
    if len(numbers) < 2:
        return numbers
    half = len(numbers) // 2
    left, right = (sort_by_merging(part, generator) for part in (numbers[:half], numbers[half:]))
    merged, first, second = [], 0, 0
    while first < len(left) and second < len(right):
        if left[first] <= right[second]:
            merged.append(left[first])
            first += 1
        else:
            merged.append(right[second])
            second += 1
    return merged + left[first:] + right[second:]


def sort_by_parts(numbers: list[int], generator: random.Random, lucky: bool) -> list[int]:
    """Below and above a pivot: one at random, or the first, which is a bad one where numbers are in order."""
    parts, done = [numbers], []
    while parts:
        part = parts.pop()
        if len(part) < 2:
            done += part
            continue
        pivot = generator.choice(part) if lucky else part[0]
        parts.append([number for number in part if number > pivot])
        parts.append([number for number in part if number == pivot])
        parts.append([number for number in part if number < pivot])
    return done


METHODS = {
    "insertion": sort_by_insertion,
    "shell": sort_by_gaps,
    "merge": sort_by_merging,
    "quick": lambda numbers, generator: sort_by_parts(numbers, generator, lucky=True),
    "naive-quick": lambda numbers, generator: sort_by_parts(numbers, generator, lucky=False),
}

if __name__ == "__main__":
    method, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    generator = random.Random(seed)
    found = METHODS[method](make_numbers(count, generator), generator)
    sys.exit(0 if found == list(range(count)) else "the numbers are not in order")
