"""Writes golden.json beside this file: values of scipy and statsmodels.

    pip install scipy==1.17.1 numpy==2.4.6 statsmodels
    python golden.py
"""

import json
import math
import pathlib

import numpy as np
import scipy
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20261120)
LEVEL = 0.95


def num(x):
    x = float(x)
    return x if math.isfinite(x) else ("inf" if x > 0 else "-inf")


def runs(n, mean, sd, digits=None):
    x = mean * np.exp(sd * rng.standard_normal(n))
    return [float(v) for v in (np.round(x, digits) if digits is not None else x)]


def proportions():
    for k, n in [(0, 1), (0, 10), (1, 10), (5, 10), (10, 10), (20, 50), (29, 300), (3, 100000), (0, 368)]:
        ci = stats.binomtest(k, n).proportion_ci(LEVEL, "exact")
        yield {"k": k, "n": n, "lo": num(ci.low), "hi": num(ci.high)}


def sampling():
    """One run a side with few samples of weight w: binomial tests given the total."""
    for ka, kb, w in [(3, 4, 1), (0, 5, 2), (5, 0, 1), (12, 25, 3), (29, 200, 0.5), (1, 1, 1)]:
        row = {"base": [ka * w, ka * w * w], "head": [kb * w, kb * w * w], "limits": []}
        for r in [0.5, 1, 1.05, 2, 10]:
            p0 = r / (1 + r)
            row["limits"].append({
                "ratio": r,
                "above": num(stats.binomtest(kb, ka + kb, p0, "greater").pvalue),
                "below": num(stats.binomtest(kb, ka + kb, p0, "less").pvalue),
            })
        yield row


def welch():
    for n, m, shift, sd in [(2, 2, 1, 0.05), (4, 4, 1.1, 0.05), (5, 7, 1.02, 0.02), (7, 4, 0.8, 0.3), (10, 5, 1.5, 0.1), (3, 3, 1e6, 1)]:
        a, b = runs(n, 1000, sd), runs(m, 1000 * shift, 2 * sd)
        la, lb = np.log(a), np.log(b)
        t = stats.ttest_ind(lb, la, equal_var=False)
        ci = t.confidence_interval(LEVEL)
        row = {"base": a, "head": b, "ratio": num(np.exp(lb.mean() - la.mean())), "p": num(t.pvalue),
               "lo": num(np.exp(ci.low)), "hi": num(np.exp(ci.high)), "limits": []}
        for r in [0.5, 0.95, 1, 1.05, 1.5]:
            row["limits"].append({
                "ratio": r,
                "above": num(stats.ttest_ind(lb - np.log(r), la, equal_var=False, alternative="greater").pvalue),
                "below": num(stats.ttest_ind(lb - np.log(r), la, equal_var=False, alternative="less").pvalue),
            })
        yield row


def prediction():
    for n, shift in [(2, 1.3), (3, 1), (8, 1.1), (20, 0.9)]:
        a, b = runs(n, 1000, 0.05), runs(1, 1000 * shift, 0.05)
        la, lb = np.log(a), np.log(b)
        se, df = la.std(ddof=1) * math.sqrt(1 + 1 / n), n - 1
        d = lb[0] - la.mean()
        lo, hi = stats.t.interval(LEVEL, df, d, se)
        yield {"base": a, "head": b, "ratio": num(np.exp(d)), "p": num(2 * stats.t.sf(abs(d) / se, df)),
               "lo": num(np.exp(lo)), "hi": num(np.exp(hi)),
               "limits": [{"ratio": r, "above": num(stats.t.sf((d - math.log(r)) / se, df)),
                           "below": num(stats.t.cdf((d - math.log(r)) / se, df))} for r in [0.9, 1, 1.2]]}


def ranks():
    for n, m, shift, sd in [(8, 8, 1, 0.05), (8, 8, 1.1, 0.05), (10, 10, 1.05, 0.02), (8, 13, 0.9, 0.1),
                            (20, 9, 1.2, 0.3), (25, 30, 1.1, 0.2), (60, 55, 1.03, 0.1), (100, 100, 1, 0.01)]:
        a, b = runs(n, 1000, sd), runs(m, 1000 * shift, sd)
        la, lb = np.log(a), np.log(b)
        test = lambda t, side: stats.mannwhitneyu(lb - t, la, alternative=side, method="exact").pvalue
        d = np.sort((lb[:, None] - la[None, :]).ravel())
        row = {"base": a, "head": b, "exact": n * m <= 2500, "ratio": num(np.exp(np.median(d))), "limits": []}
        row["p"] = num(min(1, 2 * min(test(0, "greater"), test(0, "less"))))
        # The interval: ratios between two neighbouring differences are all or none rejected.
        between = np.concatenate([[d[0] - 1], (d[1:] + d[:-1]) / 2, [d[-1] + 1]])
        kept = [i for i, t in enumerate(between) if test(t, "greater") > (1 - LEVEL) / 2 and test(t, "less") > (1 - LEVEL) / 2] \
            if n * m <= 1000 else None
        if kept:
            row["lo"], row["hi"] = num(np.exp(d[kept[0] - 1])), num(np.exp(d[kept[-1]]))
        for r in [0.9, 1, 1.05, 1.2]:
            row["limits"].append({"ratio": r, "above": num(test(math.log(r), "greater")), "below": num(test(math.log(r), "less"))})
        yield row


def tied_normal():
    """Ties above 25 a side: the normal approximation, tie-corrected, as scipy has it."""
    for n, m, shift in [(30, 30, 1.02), (40, 26, 1)]:
        a, b = runs(n, 20, 0.1, 0), runs(m, 20 * shift, 0.1, 0)
        yield {"base": a, "head": b, "limits": [{
            "ratio": 1,
            "above": num(stats.mannwhitneyu(b, a, alternative="greater", method="asymptotic").pvalue),
            "below": num(stats.mannwhitneyu(b, a, alternative="less", method="asymptotic").pvalue),
        }]}


def corrections():
    for p in [[0.01, 0.04, 0.03, 0.005], [0.5], [1, 1, 1], [0.001] * 5, list(rng.uniform(size=20) ** 3), [0, 0.05, 1, 0.05]]:
        p = [float(x) for x in p]
        yield {"p": p, "holm": [num(x) for x in multipletests(p, method="holm")[1]],
               "bh": [num(x) for x in stats.false_discovery_control(p, method="bh")]}


def power():
    for df in [2, 6, 14, 38, 398]:
        for shift in [0.5, 2, 4, 9]:
            for alpha in [0.05, 0.001]:
                yield {"df": df, "shift": shift, "alpha": alpha,
                       "power": num(stats.nct.sf(stats.t.ppf(1 - alpha, df), df, shift))}


def quantiles():
    for n in [5, 6, 30, 36, 100, 400]:
        for q in [0.5, 0.9, 0.95, 0.99]:
            x = sorted(runs(n, 16, 0.3))
            # scipy wants the interval of a hypothesised quantile; it returns NaN where it has no bound.
            ci = stats.quantile_test(x, q=0, p=q).confidence_interval(LEVEL)
            yield {"x": x, "q": q, "lo": "-inf" if np.isnan(ci.low) else num(ci.low), "hi": "inf" if np.isnan(ci.high) else num(ci.high)}


def paired_t():
    """Pairs of runs: one-sample t of the logarithms of the ratios, by ttest_rel and ttest_1samp."""
    for n, shift, sd in [(2, 1.1, 0.05), (4, 1.02, 0.01), (5, 0.9, 0.05), (7, 1, 0.02), (10, 1.03, 0.01), (4, 1e6, 1)]:
        a, b = runs(n, 1000, 0.1), runs(n, 1, sd)
        b = [x * shift * y for x, y in zip(a, b)]
        la, lb = np.log(a), np.log(b)
        t = stats.ttest_rel(lb, la)
        ci = t.confidence_interval(LEVEL)
        yield {"base": a, "head": b, "ratio": num(np.exp((lb - la).mean())), "p": num(t.pvalue),
               "lo": num(np.exp(ci.low)), "hi": num(np.exp(ci.high)), "limits": [
                   {"ratio": r, "above": num(stats.ttest_1samp(lb - la, math.log(r), alternative="greater").pvalue),
                    "below": num(stats.ttest_1samp(lb - la, math.log(r), alternative="less").pvalue)}
                   for r in [0.5, 0.95, 1, 1.05, 1.5]]}


def paired_ranks():
    """Pairs of runs: signed ranks of the logarithms of the ratios, and the Walsh averages."""
    for n, shift, sd in [(8, 1, 0.05), (8, 1.1, 0.05), (10, 1.03, 0.01), (13, 0.9, 0.1), (20, 1.2, 0.3), (40, 1.02, 0.05), (99, 1, 0.3), (100, 0.99, 0.3)]:
        a, b = runs(n, 1000, 0.1), runs(n, 1, sd)
        b = [x * shift * y for x, y in zip(a, b)]
        d = np.log(b) - np.log(a)
        test = lambda t, side: stats.wilcoxon(d - t, alternative=side, method="exact").pvalue
        walsh = np.sort([(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)])
        row = {"base": a, "head": b, "ratio": num(np.exp(np.median(walsh))), "limits": [],
               "p": num(min(1, 2 * min(test(0, "greater"), test(0, "less"))))}
        # The interval: limits between two neighbouring averages are all or none rejected.
        between = (walsh[1:] + walsh[:-1]) / 2
        first = next(i for i, t in enumerate(between) if test(t, "greater") > (1 - LEVEL) / 2)
        last = next(i for i in range(len(between) - 1, -1, -1) if test(between[i], "less") > (1 - LEVEL) / 2)
        row["lo"], row["hi"] = num(np.exp(walsh[first])), num(np.exp(walsh[last + 1]))
        for r in [0.9, 1, 1.05, 1.2]:
            row["limits"].append({"ratio": r, "above": num(test(math.log(r), "greater")), "below": num(test(math.log(r), "less"))})
        yield row


golden = {
    "comment": f"made by golden.py with scipy {scipy.__version__}, numpy {np.__version__}; intervals at {LEVEL}",
    "proportions": list(proportions()), "sampling": list(sampling()), "welch": list(welch()),
    "prediction": list(prediction()), "ranks": list(ranks()), "tied_normal": list(tied_normal()),
    "corrections": list(corrections()), "power": list(power()), "quantiles": list(quantiles()),
    "paired_t": list(paired_t()), "paired_ranks": list(paired_ranks()),
}
lines = []
for name, value in golden.items():
    rows = [json.dumps(value)] if isinstance(value, str) else ["[", ",\n".join("  " + json.dumps(row) for row in value), " ]"]
    lines.append(f" {json.dumps(name)}: " + "\n".join(rows))
pathlib.Path(__file__).with_name("golden.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
