"""A question of your own: the arms whose mean is above a floor, each by itself."""

from dataclasses import dataclass

import numpy as np

import ramgape
from ramgape.extend import check_question
from ramgape.questions import follow, kernel


@kernel
def compare(arms, memory, search, problem, changed):  # keeps the answer, and by how much each place is in doubt
    floor, leader = problem.task_parameters[0], 0
    for arm in range(len(arms)):
        row, above = arms[arm], arms[arm].average > floor
        row.in_front, row.rival, row.exact = above, arm, 1
        row.doubt = floor - row.mean_low if above else row.mean_high - floor  # below 0: proved
        leader = arm if row.doubt > arms[leader].doubt else leader
    search.ready = search.samples >= problem.initial_pulls * len(arms)
    follow(arms, search, problem, leader, arms[leader].doubt)


@dataclass(frozen=True)
class AboveFloor(ramgape.Question):
    name = "above-floor"
    floor: float = 0.5

    def compare(self):
        return compare

    def scaled(self, mean, risk):  # from your units to those of the arrays below
        return AboveFloor(mean(self.floor))

    def write(self, problem):  # for the kernel
        problem["task_parameters"][0] = self.floor

    def tolerances(self, answer, boxes):  # what intervals prove
        return np.where(answer, self.floor - boxes.mean_low, boxes.mean_high - self.floor), np.arange(len(answer))

    def true_answer(self, means, risks):
        return means > self.floor

    def claim(self, wanted):
        return f"these arms have means above {self.floor:g} and no others have, each up to {wanted.epsilon:g}."


if __name__ == "__main__":
    check_question(AboveFloor(0.5))
    result = ramgape.simulate("paper:46", question=AboveFloor(0.45), epsilon=0.01, seed=1)
    print("above the floor:", *result.front)
