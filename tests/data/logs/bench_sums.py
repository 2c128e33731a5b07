def test_sum_loop(benchmark):
    def run():
        total = 0
        for n in range(200):
            total += n
        return total

    assert benchmark.pedantic(run, rounds=25, iterations=20, warmup_rounds=2) == 19900


def test_sum_builtin(benchmark):
    assert benchmark.pedantic(lambda: sum(range(200)), rounds=25, iterations=20, warmup_rounds=2) == 19900
