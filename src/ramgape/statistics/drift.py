"""Watching for rewards that are not independent draws from one distribution: bets that such draws would not win.

Every certificate rests on that assumption. A row of `WATCH` watches the rewards of one arm in the order in which they
are learnt, wherever they come from; simulated ones are not watched.

    gaps     The n - 1 rewards before the n-th leave n gaps between them. Ties are broken at random: every reward has a
             uniform V, by which equal ones are put in order.
    cells    The first 32 rewards are kept, and cut the line into cells; of later ones each cell only counts its gaps.
    ranks    p_n = 1 - (gaps in higher cells + U_n times the gaps in the cell of the n-th reward) / n.
    bets     With P = 2 p - 1 and Q = 2 |P| - 1, both uniform on [-1, 1], and P', Q' those of the reward before, a
             stake becomes 1 + e x times as much, for x = P (level), Q (spread), P P' (memory), Q Q' (clusters) and e
             in `STAKES`. Before each bet a small share (`JUMP`) of the capital is spread over all e.
    reserve  R_n = sqrt(16 / (16 + n)) of the first capital, 1, does not bet yet; it comes into the bets little by
             little. So a change after 10^5 rewards is found about as soon as one after 10^3, while without a reserve
             what the bets lose in the meantime, some 0.3 % of it a reward, would have to be won back first.
    M_n      R_n + the mean of the capitals of the four bets; M_0 = 1. Alarm when M_n >= K / alpha, for K arms.

The probability that any arm ever raises a false alarm is at most alpha, however arms depend on each other and however
pulls were chosen:

1. Let an arm's rewards be exchangeable, as independent draws from one distribution are. Then pairs (X_n, V_n) are as
   well, and no two are equal. Given how the first n - 1 are arranged, which came where, the n-th falls into each of
   their n gaps with probability 1/n, because all n! arrangements of n are equally likely. So it falls into a cell with
   g gaps with probability g/n, and p_n is uniform on [0, 1] given all before; p_1, p_2, ... are independent and
   uniform. (Ranks that are independent: Renyi 1962; p-values of a smoothed conformal transducer: Vovk, Nouretdinov,
   Gammerman 2003, "Testing exchangeability on-line".)
2. P_n and Q_n have mean 0 given what came before, which fixes P' and Q'. So a bet keeps the expectation of its stake;
   spreading and investing only move capital about; and M is a nonnegative martingale (the Simple Jumper of Vovk et al.
   2021, "Retrain or not retrain", with a reserve). That is so given how earlier rewards are arranged, not given their
   values: whoever knows the distribution knows more. Step 3 does not need it.
3. By Ville's inequality, P(sup M_n >= K / alpha) <= alpha / K, over the whole sequence of rewards that an arm would
   give. However far a search follows that sequence, and for whatever reason it goes no further, it sees a part of it.
   Sum over the arms.

U and V come from a fixed counter-based generator, by the number of the reward: the same rewards raise the same alarms,
in a study that is replayed, on another machine, in another order of the arms; and to look again is not to draw again.
Step 1 takes them for random and independent of the rewards, which they are unless somebody makes rewards out of them.
Everybody can know them, so this is no defence against who means to deceive. All arms have the same, which does no harm:
step 3 asks for no independence between arms.

Nothing depends on more than the order of an arm's rewards by size: neither offsets nor units do.
"""

from __future__ import annotations

import math

import numpy as np

from ramgape.core.kernel import inlined, kernel
from ramgape.core.table import Table, new_table

EDGES = 32  # rewards that are kept
STAKES = (-0.9, -0.45, 0.0, 0.45, 0.9)
BETS = ("level", "spread", "memory", "clusters")
JUMP = 0.003
PATIENCE = 16.0
ENOUGH = 1e300  # nobody bets on: twice as much a few times more would be no number
BITS, KEYS, FACTORS = 0xFFFFFFFF, (0x3C6EF372, 0x5BE0CD19), (0x21F0AAAD, 0x735A2D97)

WATCH = np.dtype(
    [
        ("seen", np.int64),
        ("edges", np.float64, EDGES),  # the first rewards, in increasing order, and their V
        ("ties", np.float64, EDGES),
        ("gaps", np.int64, EDGES + 1),  # of each cell
        ("capital", np.float64, len(BETS) * len(STAKES)),  # of each bet, by what it stakes
        ("reserve", np.float64),
        ("last", np.float64, 2),  # P and Q of the last reward; 0 before there was one, so that nothing is won by it
        ("evidence", np.float64),  # the greatest M so far, and the bet with the most capital then
        ("kind", np.int64),
        ("alarm", np.int64),  # the reward at which M was first enough for an alarm, counted from 1; 0: it was not
    ],
    align=True,
)


def empty_drift_table(arm_count: int) -> Table:
    """Arms of which nothing has been seen."""
    table = new_table(arm_count, WATCH)
    table["gaps"] = 1
    table["reserve"] = table["evidence"] = 1.0
    return table


@inlined
def mixed(number):
    """A whole number below 2^32 from another one, each bit of it from all bits of that: multiply and shift, twice."""
    number = ((number ^ (number >> 16)) * FACTORS[0]) & BITS
    number = ((number ^ (number >> 15)) * FACTORS[1]) & BITS
    return number ^ (number >> 15)


@inlined
def tie_breaker(number):
    """A number in (0, 1) for each number, always the same; for ties, and for places within a cell."""
    first = mixed((number ^ KEYS[0]) & BITS)
    return (mixed(first ^ KEYS[1]) + 0.5) / 4294967296.0


@inlined
def rank(row, reward):
    """p of the next reward, which is counted."""
    number = int(row.seen)  # of those before it; with the compiler off a number that cannot overflow
    tie, kept = tie_breaker(2 * number), min(number, EDGES)
    cell = 0
    for edge in range(kept):
        if row.edges[edge] < reward or (row.edges[edge] == reward and row.ties[edge] < tie):
            cell += 1
    gaps = row.gaps[cell]
    higher = 0
    for other in range(cell + 1, kept + 1):
        higher += row.gaps[other]
    row.seen += 1
    if number < EDGES:
        for edge in range(number, cell, -1):
            row.edges[edge], row.ties[edge] = row.edges[edge - 1], row.ties[edge - 1]
        row.edges[cell], row.ties[cell] = reward, tie
    else:
        row.gaps[cell] += 1
    return 1.0 - (higher + tie_breaker(2 * number + 1) * gaps) / (number + 1)


@inlined
def wager(row, bet, outcome, fresh):
    """The capital of one bet after its outcome, with fresh capital for each stake."""
    first, total = bet * len(STAKES), 0.0
    for stake in range(len(STAKES)):
        total += row.capital[first + stake]
    shared, total = JUMP * total / len(STAKES) + fresh, 0.0
    for stake in range(len(STAKES)):
        kept = (1.0 - JUMP) * row.capital[first + stake] + shared
        row.capital[first + stake] = kept * (1.0 + STAKES[stake] * outcome)
        total += row.capital[first + stake]
    return total


@inlined
def judge(row, reward, threshold):
    """Watch one more reward of an arm; M at `threshold` or above is an alarm."""
    if row.evidence >= ENOUGH:
        return
    level = 2.0 * rank(row, reward) - 1.0
    spread = 2.0 * abs(level) - 1.0
    reserve = math.sqrt(PATIENCE / (PATIENCE + row.seen))
    fresh = (row.reserve - reserve) / len(STAKES)
    outcomes = (level, spread, level * row.last[0], spread * row.last[1])
    row.reserve, row.last[0], row.last[1] = reserve, level, spread
    together, most, kind = 0.0, -1.0, 0
    for bet in range(len(outcomes)):
        capital = wager(row, bet, outcomes[bet], fresh)
        together += capital
        if capital > most:
            most, kind = capital, bet
    evidence = reserve + together / len(outcomes)
    if evidence > row.evidence:
        row.evidence, row.kind = evidence, kind
        if row.alarm == 0 and evidence >= threshold:
            row.alarm = row.seen


@kernel
def check_many(table, arms, rewards, threshold):
    """Watch rewards of several arms, in their order."""
    for number in range(len(arms)):
        judge(table[arms[number]], rewards[number], threshold)
