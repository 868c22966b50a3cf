"""What tests/it/oracle.rs expects, from the formulas as their sources write them, with NumPy and SciPy instead of this crate.

    pip install numpy==2.4.6 scipy==1.17.1 && python crates/statistics/tests/data/oracle.py
"""

import itertools
import math

import numpy as np
from scipy import stats


def noise(count, seed):
    """Numbers from −0.5 to 0.5 that look like chance."""
    return np.array([((i * i * 4649 + (i + 1) * 239 * seed) % 10007) / 10007 - 0.5 for i in range(count)])


def remembering(count, seed, memory):
    values, last = [], 0.0
    for fresh in noise(count, seed):
        last = memory * last + fresh
        values.append(last)
    return np.array(values)


def correlation_time(values):
    """Geyer 1992, section 3.3: initial monotone sequence."""
    x = np.asarray(values, dtype=float) - np.mean(values)
    n = len(x)
    rho = [float(np.dot(x[: n - k], x[k:])) / n for k in range(n)]
    rho = np.array(rho) / rho[0]
    total, least = 0.0, math.inf
    for k in range(0, n // 2):
        gamma = rho[2 * k] + rho[2 * k + 1]
        if gamma <= 0:
            break
        least = min(least, gamma)
        total += least
    return min(max(2 * total - 1, 1.0), n)


def two_sided(t, df):
    return 2 * stats.t.sf(abs(t), df)


def energy_split(blocks, least):
    """Matteson and James 2014, formula (7), by its definition."""
    best = (-math.inf, None)
    for n in range(least, len(blocks) - least + 1):
        x, y = blocks[:n], blocks[n:]
        m = len(y)
        between = 2 / (n * m) * sum(abs(a - b) for a in x for b in y)
        within = lambda side: sum(abs(a - b) for a, b in itertools.combinations(side, 2)) / math.comb(len(side), 2)
        q = n * m / (n + m) * (between - within(x) - within(y))
        if q > best[0]:
            best = (q, n)
    return best[1]


def change_point(values):
    size = max(1, math.ceil(len(values) / 300))
    count = len(values) // size
    blocks = [np.mean(values[i * size : (i + 1) * size]) for i in range(count)]
    at = energy_split(blocks, count // 10) * size
    left, right = values[:at], values[at:]
    rest = np.concatenate([left - left.mean(), right - right.mean()])
    tau = correlation_time(rest)
    variance = (rest**2).sum() / (len(values) - 2) * tau
    error = math.sqrt(variance / len(left) + variance / len(right))
    p = two_sided((right.mean() - left.mean()) / error, len(values) / tau - 2)
    return at, left.mean(), right.mean(), p


def trend(values):
    fit = stats.linregress(np.arange(len(values)), values)
    rest = values - (fit.intercept + fit.slope * np.arange(len(values)))
    tau = correlation_time(rest)
    n = len(values)
    error = math.sqrt((rest**2).sum() / (n - 2) / ((n * n - 1) * n / 12) * tau)
    return fit.slope * (n - 1) / abs(np.mean(values)), two_sided(fit.slope / error, n / tau - 2)


def batch_means(values):
    size = math.ceil(5 * correlation_time(values))
    count = len(values) // size
    means = [np.mean(values[i * size : (i + 1) * size]) for i in range(count)]
    half = stats.t.ppf(0.975, count - 1) * np.std(means, ddof=1) / math.sqrt(count)
    return np.mean(values) - half, np.mean(values) + half, len(values) / correlation_time(values), count


def line_points(slope, at, wobble, seed, count):
    xs = [0.1 * noise(count, seed + 1)[i] + 0.002 * i for i in range(count)]
    return [(x, slope * (x - at) + wobble * e) for x, e in zip(xs, noise(count, seed))]


def crossing(points, slope=None):
    """Draper and Smith, chapter 3; with a slope that is given, the mean of what each point says."""
    x, y = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    n, k = len(x), 1 if slope else 2
    used = slope or stats.linregress(x, y).slope
    rest = (y - y.mean()) - used * (x - x.mean())
    tau = correlation_time(rest)
    deviation = math.sqrt((rest**2).sum() / (n - k)) / used
    at = x.mean() - y.mean() / used
    far = 0 if slope else (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    half = stats.t.ppf(0.975, n / tau - k) * deviation * math.sqrt(tau / n + far)
    return at, at - half, at + half, deviation, used


def threshold(attempts, least, most):
    """The posterior on the grid, by its definition; the interval's ends are the grid's own."""
    levels = np.linspace(least, most, 300)
    spreads = np.geomspace(0.003, 0.4, 12)
    posterior = np.ones((300, 12))
    for level, failed in attempts:
        z = math.pi / math.sqrt(3) * (level - levels[:, None]) / spreads[None, :]
        fails = 0.01 + 0.98 * stats.logistic.cdf(z)
        posterior *= fails if failed else 1 - fails
    posterior /= posterior.sum()
    cumulated = posterior.sum(axis=1).cumsum()
    at = lambda share: levels[np.argmax(cumulated >= share)]
    return at(0.5), at(0.025), at(0.975), float((posterior.sum(axis=0) * spreads).sum())


def shift(values):
    """The widest split, and how often the same values in a random order have one as wide."""
    def widest(x):
        n = len(x)
        left = np.cumsum(x)[2 : n - 3] / np.arange(3, n - 2)
        right = (x.sum() - np.cumsum(x)[2 : n - 3]) / np.arange(n - 3, 2, -1)
        a = np.arange(3, n - 2)
        q = a * (n - a) / n * (left - right) ** 2
        return int(np.argmax(q)) + 3, q.max()

    at, q = widest(values)
    random = np.random.default_rng(1)
    p = np.mean([widest(random.permutation(values))[1] >= q * (1 - 1e-12) for _ in range(40_000)])
    return at, values[:at].mean(), values[at:].mean(), p


def bootstrap_t(figures):
    x, random = np.array(figures), np.random.default_rng(2)
    drawn = random.choice(x, (400_000, len(x)))
    spread = drawn.std(axis=1, ddof=1)
    t = ((drawn.mean(axis=1) - x.mean()) / (spread / math.sqrt(len(x))))[spread > 0]
    error = x.std(ddof=1) / math.sqrt(len(x))
    return x.mean() - np.quantile(t, 0.975) * error, x.mean() - np.quantile(t, 0.025) * error


def noise_floor(figures, at_least):
    """All halvings instead of a thousand."""
    logs, half, changes, alarms = np.log(figures), len(figures) // 2, [], []
    for chosen in itertools.combinations(range(len(logs)), half):
        base, new = logs[list(chosen)], np.delete(logs, chosen)
        change = math.expm1(new.mean() - base.mean())
        p = stats.ttest_ind(base, new, equal_var=False).pvalue
        changes.append(abs(change))
        alarms.append(p < 0.05 and abs(change) >= at_least)
    return np.quantile(changes, 0.95), np.mean(alarms)


def runs_needed(base, new, threshold, paired):
    base, new = np.log(base), np.log(new)
    estimate = new.mean() - base.mean()
    spread = np.std(new - base, ddof=1) if paired else math.sqrt(base.var(ddof=1) + new.var(ddof=1))
    for n in range(2, 1001):
        half = stats.t.ppf(0.975, n - 1 if paired else 2 * n - 2) * spread / math.sqrt(n)
        low, high, change = math.expm1(estimate - half), math.expm1(estimate + half), math.expm1(estimate)
        differs = (low > 0 or high < 0) and abs(change) >= threshold
        if differs or (-threshold <= low and high <= threshold):
            return n
    return None


def usl(loads, throughputs):
    """By minimising the relative errors of X, from Gunther's law as it stands."""
    from scipy.optimize import least_squares

    n, x = np.array(loads, float), np.array(throughputs, float)
    law = lambda c: n / (c[0] + c[1] * (n - 1) + c[2] * n * (n - 1))
    return least_squares(lambda c: law(c) / x - 1, [1 / x[0], 0.05 / x[0], 0.001 / x[0]], x_scale=[1e-3, 1e-4, 1e-6], xtol=1e-15, ftol=1e-15, gtol=1e-15).x


def mser5(values):
    """White, Cobb and Spratt 2000: argmin over d ≤ n / 2 of Σ (z − z̄)² / (n − d)²."""
    z = np.array([np.mean(values[5 * i : 5 * i + 5]) for i in range(len(values) // 5)])
    errors = [((z[d:] - z[d:].mean()) ** 2).sum() / (len(z) - d) ** 2 for d in range(len(z) // 2 + 1)]
    return int(np.argmin(errors)) * 5


def level_test(left, right):
    left, right = np.log(left), np.log(right)
    found = stats.ttest_ind(right, left)
    ends = found.confidence_interval(0.95)
    return math.expm1(right.mean() - left.mean()), math.expm1(ends.low), math.expm1(ends.high), found.pvalue


def show(name, *figures):
    print(name, *(f"{figure:.12g}" if isinstance(figure, float) else figure for figure in figures))


def main():
    for memory in (0.0, 0.5, 0.9):
        show(f"correlation_time {memory}", float(correlation_time(remembering(400, 3, memory))))
    show("correlation_time of 7", float(correlation_time([1.0, 2.0, 4.0, 3.0, 5.0, 7.0, 6.0])))
    show("correlation_time of 4", float(correlation_time([1.0, 2.0, 4.0, 3.0])))
    show("batch_means", *map(float, batch_means(10 + remembering(600, 2, 0.5))))
    show("trend", *map(float, trend(10 + remembering(80, 4, 0.4) + 0.004 * np.arange(80))))
    show("trend below 0", *map(float, trend(-5 + noise(30, 2) - 0.03 * np.arange(30))))
    step = lambda count, at, seed, by: 10 + remembering(count, seed, 0.3) + by * (np.arange(count) >= at)
    show("change_point 60", *map(float, change_point(step(60, 23, 3, 0.4))))
    show("change_point 20", *map(float, change_point(step(20, 9, 5, 0.7))))
    show("change_point 700", *map(float, change_point(step(700, 333, 6, 0.15))))
    show("crossing steep", *map(float, crossing(line_points(4.0, 0.03, 0.05, 3, 12))))
    show("crossing told", *map(float, crossing(line_points(1.1, 0.03, 0.1, 3, 12))))
    show("crossing known", *map(float, crossing(line_points(0.6, 0.03, 0.1, 3, 12), 1.0)))
    attempts = [(0.0, False), (0.1, False), (0.05, True), (0.12, True), (0.2, True), (0.15, False), (-0.1, False)]
    show("threshold", *map(float, threshold(attempts, -0.5, 0.8)))
    moved = 1 + 0.2 * noise(14, 7) + 0.09 * (np.arange(14) >= 5)
    show("shift", *map(float, shift(moved)))
    show("bootstrap_t", *map(float, bootstrap_t([3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3])))
    show("noise_floor", *map(float, noise_floor([100.0, 103.0, 98.0, 101.0, 107.0, 99.0, 104.0, 96.0], 0.04)))
    base, new = [100.0, 104.0, 98.0, 102.0], [103.0, 106.0, 99.0, 107.0]
    show("runs_needed apart", runs_needed(base, new, 0.02, False))
    show("runs_needed paired", runs_needed(base, new, 0.02, True))
    show("runs_needed of what is small", runs_needed(base, new, 0.1, False))
    near = [100.0, 104.0, 98.0, 102.0], [100.1, 104.3, 97.9, 102.0]
    show("runs_needed of what is the same", runs_needed(*near, 0.02, False))
    loads = [1, 2, 4, 8, 12, 16, 24, 32, 48]
    law = [1000 * n / (1 + 0.05 * (n - 1) + 0.001 * n * (n - 1)) for n in loads]
    wobbly = [x * (1 + 0.04 * e) for x, e in zip(law, noise(9, 3))]
    a, b, c = usl(loads, wobbly)
    left = math.sqrt(sum((x / (n / (a + b * (n - 1) + c * n * (n - 1))) - 1) ** 2 for n, x in zip(loads, wobbly)) / 6)
    show("usl", 1 / a, b / a, c / a, left, math.sqrt((a - b) / c))
    warm = lambda count, length: 100 * (1 + 0.6 * np.exp(-np.arange(count) / length)) + 8 * noise(count, 5)
    show("mser5", mser5(warm(150, 9.0)), mser5(warm(200, 25.0)))
    levels = 100 * (1 + 0.04 * noise(40, 2)) * np.where(np.arange(40) >= 26, 1.06, 1.0)
    show("levels", energy_split(np.log(levels), 5), *map(float, level_test(levels[:26], levels[26:])))


if __name__ == "__main__":
    main()
