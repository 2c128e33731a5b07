import google_benchmark as benchmark


@benchmark.register
@benchmark.option.repetitions(12)
@benchmark.option.unit(benchmark.kMicrosecond)
def sum_loop(state):
    while state:
        total = 0
        for n in range(200):
            total += n


@benchmark.register
@benchmark.option.repetitions(12)
@benchmark.option.unit(benchmark.kMicrosecond)
def sum_builtin(state):
    while state:
        sum(range(200))


if __name__ == "__main__":
    benchmark.main()
