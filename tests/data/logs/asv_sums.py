class Sums:
    params = 100, 1000
    param_names = ("n",)
    repeat = 15
    number = 50
    warmup_time = 0

    def time_loop(self, n):
        total = 0
        for each in range(n):
            total += each

    def time_builtin(self, n):
        sum(range(n))
