# What R's package survey says of survey.csv: Rscript survey.R > survey.tsv
# Ratios of each release and model, with devices as clusters (svyratio linearises, too), then models with the
# weights that both releases have together.
suppressMessages(library(survey))
d <- read.csv("survey.csv")
cat("per\tfunction\trelease\tmodel\tmean\tvariance\tdevices\n")
for (per in c("weight", "work")) for (f in c("f1", "f2", "f3", "f4")) {
  parts <- list()
  for (r in c("1.0", "1.1")) for (m in c("a", "b", "c")) {
    s <- d[d$release == as.numeric(r) & d$model == m, ]
    design <- svydesign(ids = ~device, data = s, weights = ~1)
    est <- svyratio(as.formula(paste0("~", f)), as.formula(paste0("~", per)), design)
    n <- length(unique(s$device))
    cat(sprintf("%s\t%s\t%s\t%s\t%.15g\t%.15g\t%d\n", per, f, r, m, coef(est), vcov(est)[1, 1], n))
    parts[[paste(r, m)]] <- c(coef(est), vcov(est)[1, 1], n)
  }
  w <- sapply(c("a", "b", "c"), function(m) sum(d[d$model == m, per]))
  w <- w / sum(w)
  side <- function(r) {
    p <- sapply(c("a", "b", "c"), function(m) parts[[paste(r, m)]])
    v <- w^2 * p[2, ]
    c(sum(w * p[1, ]), sum(v), sum(v^2 / (p[3, ] - 1)))
  }
  a <- side("1.0"); b <- side("1.1")
  z <- abs(b[1] - a[1]) / sqrt(a[2] + b[2])
  df <- (a[2] + b[2])^2 / (a[3] + b[3])
  cat(sprintf("%s\t%s\tz\tdf %.15g\t%.15g\t%.15g\t0\n", per, f, df, z, 2 * pt(-z, df)))
  # The interval of the ratio: what Student's t does not refuse (Fieller).
  if (a[1] > 0) {
    refused <- function(q, tail) {
      v <- b[2] + q^2 * a[2]
      x <- (b[1] - q * a[1]) / sqrt(v)
      pt(tail * x, v^2 / (b[3] + q^4 * a[3]), lower.tail = FALSE) - 0.025
    }
    lo <- uniroot(refused, c(1e-6, b[1] / a[1]), tail = 1, tol = 1e-13)$root
    hi <- tryCatch(uniroot(refused, c(b[1] / a[1], 1e6), tail = -1, tol = 1e-13)$root, error = function(e) Inf)
    cat(sprintf("%s\t%s\tratio\t%.15g\t%.12g\t%.12g\t0\n", per, f, b[1] / a[1], lo, hi))
  }
}
p <- c(0.01, 0.04, 0.03, 0.005, 0.8)
cat(sprintf("bh\t%s\n", paste(sprintf("%.15g", p.adjust(p, "BH")), collapse = " ")))
