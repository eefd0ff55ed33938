{{/* What one release of a fleet spends against another, as one statement. Sections:

  1. "population": profiles of both releases, summed by device (dev), and by release and model of devices (strat);
     weights of models (wm). From the ledger, or from the roll-up of it.
  2. "names": ids of functions, after renames.
  3. "spent": what each device spends in each function or category (xd). From facts, or from the roll-up of them.
  4. "moments": sums over devices, by release and model (fs).
  5. "rows": shares, variances of each side and of both together, z and p.

Only the parts that differ are written twice. */ -}}

{{define "population" -}}
{{if .RolledUp -}}
u0 AS (
  SELECT release_id, device_model, unit_id, n_profiles, w AS weight, {{.Divisor}} AS divisor
  FROM units WHERE release_id IN ({{.Before}}, {{.After}}) AND sample_type = {{.SampleType}}
), ledger AS (
  SELECT SUM(CASE WHEN release_id = {{.Before}} THEN n_profiles ELSE 0 END) AS profiles_a,
         SUM(CASE WHEN release_id = {{.After}} THEN n_profiles ELSE 0 END) AS profiles_b
  FROM u0 WHERE weight > 0 AND divisor > 0
), dev AS (
  SELECT release_id, device_model, unit_id, CAST(divisor AS DECIMAL(38,0)) AS w
  FROM u0 WHERE weight > 0 AND divisor > 0
)
{{- else -}}
p0 AS (
  SELECT profile_id, batch_id, release_id, device_model, device_id, weight, {{.Divisor}} AS divisor
  FROM profiles WHERE release_id IN ({{.Before}}, {{.After}}) AND sample_type = {{.SampleType}}
), p AS (
  SELECT profile_id, batch_id, release_id, device_model, device_id AS unit_id, divisor
  FROM p0 WHERE weight > 0 AND divisor > 0
), ledger AS (
  SELECT SUM(CASE WHEN release_id = {{.Before}} THEN 1 ELSE 0 END) AS profiles_a,
         SUM(CASE WHEN release_id = {{.After}} THEN 1 ELSE 0 END) AS profiles_b
  FROM p
), dev AS (
  SELECT release_id, device_model, unit_id, SUM(CAST(divisor AS DECIMAL(38,0))) AS w
  FROM p GROUP BY release_id, device_model, unit_id
)
{{- end}}, strat AS (
  SELECT release_id, device_model, COUNT(*) AS n, SUM(w) AS sw, SUM(w*w) AS sww
  FROM dev GROUP BY release_id, device_model
), wm0 AS (
  SELECT device_model, SUM(CAST(sw AS DOUBLE)) AS mw
  FROM strat GROUP BY device_model HAVING COUNT(*) = 2 AND MIN(n) >= 2
), wm AS (
  SELECT device_model, mw / SUM(mw) OVER () AS wgt FROM wm0
)
{{- end}}

{{define "names" -}}
rn AS (
  SELECT from_id, COALESCE(MIN(CASE WHEN origin = 'declared' THEN to_id END), MIN(to_id)) AS to_id
  FROM renames GROUP BY from_id
), ids AS (
  SELECT function_id AS from_id, function_id AS to_id FROM functions
  WHERE function_id NOT IN (SELECT from_id FROM rn) GROUP BY function_id
  UNION ALL
  SELECT from_id, to_id FROM rn
)
{{- end}}

{{define "spent" -}}
{{if .Category -}}
xd AS (
  SELECT p.release_id AS release_id, p.device_model AS device_model, p.unit_id AS unit_id, f.category AS category,
         SUM(CAST(f.self_value AS DECIMAL(38,0))) AS x
  FROM profile_categories f
  JOIN p ON p.profile_id = f.profile_id AND p.batch_id = f.batch_id
  WHERE f.sample_type = {{.SampleType}} AND f.self_value > 0
  GROUP BY p.release_id, p.device_model, p.unit_id, f.category
)
{{- else if .RolledUp -}}
xd AS (
  SELECT f.release_id AS release_id, f.device_model AS device_model, f.unit_id AS unit_id, i.to_id AS function_id,
         SUM(CAST(f.{{.Value}}_sum AS DECIMAL(38,0))) AS x
  FROM function_units f
  JOIN ids i ON i.from_id = f.function_id
  WHERE f.release_id IN ({{.Before}}, {{.After}}) AND f.sample_type = {{.SampleType}} AND f.{{.Value}}_sum > 0
  GROUP BY f.release_id, f.device_model, f.unit_id, i.to_id
)
{{- else -}}
xd AS (
  SELECT p.release_id AS release_id, p.device_model AS device_model, p.unit_id AS unit_id, i.to_id AS function_id,
         SUM(CAST(f.{{.Value}}_value AS DECIMAL(38,0))) AS x
  FROM profile_functions f
  JOIN p ON p.profile_id = f.profile_id AND p.batch_id = f.batch_id
  JOIN ids i ON i.from_id = f.function_id
  WHERE f.sample_type = {{.SampleType}} AND f.{{.Value}}_value > 0
  GROUP BY p.release_id, p.device_model, p.unit_id, i.to_id
)
{{- end}}
{{- end}}

{{define "moments" -}}
{{if .Staged -}}
fs AS (
  SELECT release_id, device_model, function_id, {{.Value}}_nz AS nz, {{.Value}}_sx AS sx, {{.Value}}_sxx AS sxx, {{.Value}}_sxw AS sxw
  FROM function_moments WHERE {{.Value}}_nz > 0
)
{{- else -}}
fs AS (
  SELECT x.release_id AS release_id, x.device_model AS device_model, x.{{.Key}} AS {{.Key}}, COUNT(*) AS nz,
         SUM(x.x) AS sx, SUM(x.x*x.x) AS sxx, SUM(x.x*d.w) AS sxw
  FROM xd x JOIN dev d ON d.release_id = x.release_id AND d.device_model = x.device_model AND d.unit_id = x.unit_id
  GROUP BY x.release_id, x.device_model, x.{{.Key}}
)
{{- end}}
{{- end}}

{{define "rows" -}}
sides AS (
  -- Both sides of each model.
  SELECT device_model,
         SUM(CASE WHEN release_id = {{.Before}} THEN CAST(n AS DOUBLE) ELSE 0 END) AS n_a,
         SUM(CASE WHEN release_id = {{.After}} THEN CAST(n AS DOUBLE) ELSE 0 END) AS n_b,
         SUM(CASE WHEN release_id = {{.Before}} THEN CAST(sw AS DOUBLE) ELSE 0 END) AS sw_a,
         SUM(CASE WHEN release_id = {{.After}} THEN CAST(sw AS DOUBLE) ELSE 0 END) AS sw_b,
         SUM(CASE WHEN release_id = {{.Before}} THEN CAST(sww AS DOUBLE) ELSE 0 END) AS sww_a,
         SUM(CASE WHEN release_id = {{.After}} THEN CAST(sww AS DOUBLE) ELSE 0 END) AS sww_b
  FROM strat GROUP BY device_model
), fb AS (
  -- A side that has none of it has sums of 0.
  SELECT device_model, {{.Key}},
         SUM(CASE WHEN release_id = {{.Before}} THEN nz ELSE 0 END) AS nz_a,
         SUM(CASE WHEN release_id = {{.After}} THEN nz ELSE 0 END) AS nz_b,
         SUM(CASE WHEN release_id = {{.Before}} THEN CAST(sx AS DOUBLE) ELSE 0 END) AS sx_a,
         SUM(CASE WHEN release_id = {{.After}} THEN CAST(sx AS DOUBLE) ELSE 0 END) AS sx_b,
         SUM(CASE WHEN release_id = {{.Before}} THEN CAST(sxx AS DOUBLE) ELSE 0 END) AS sxx_a,
         SUM(CASE WHEN release_id = {{.After}} THEN CAST(sxx AS DOUBLE) ELSE 0 END) AS sxx_b,
         SUM(CASE WHEN release_id = {{.Before}} THEN CAST(sxw AS DOUBLE) ELSE 0 END) AS sxw_a,
         SUM(CASE WHEN release_id = {{.After}} THEN CAST(sxw AS DOUBLE) ELSE 0 END) AS sxw_b
  FROM fs GROUP BY device_model, {{.Key}}
), r0 AS (
  SELECT f.device_model AS device_model, f.{{.Key}} AS {{.Key}}, m.wgt AS weight,
         f.nz_a AS nz_a, f.nz_b AS nz_b, s.n_a AS n_a, s.n_b AS n_b, s.sw_a AS sw_a, s.sw_b AS sw_b, s.sww_a AS sww_a, s.sww_b AS sww_b,
         f.sxx_a AS sxx_a, f.sxx_b AS sxx_b, f.sxw_a AS sxw_a, f.sxw_b AS sxw_b,
         f.sx_a/s.sw_a AS share_a, f.sx_b/s.sw_b AS share_b
  FROM fb f JOIN sides s ON s.device_model = f.device_model JOIN wm m ON m.device_model = f.device_model
), r1 AS (
  SELECT *, sxx_a - 2*share_a*sxw_a + share_a*share_a*sww_a AS exact_a, sxx_b - 2*share_b*sxw_b + share_b*share_b*sww_b AS exact_b FROM r0
), r2 AS (
  -- Where devices are all alike, what is left is rounding.
  SELECT *, CASE WHEN exact_a > 1e-10*sxx_a THEN exact_a ELSE CAST(0 AS DOUBLE) END AS spread_a,
         CASE WHEN exact_b > 1e-10*sxx_b THEN exact_b ELSE CAST(0 AS DOUBLE) END AS spread_b
  FROM r1
), r AS (
  SELECT {{if .Model}}device_model AS model, {{.Key}}, CAST(1 AS DOUBLE) AS wgt{{else}}'' AS model, {{.Key}}, weight AS wgt{{end}}, nz_a, nz_b, n_a, n_b, sw_a, sw_b, share_a, share_b,
         n_a/(n_a-1) * spread_a / (sw_a*sw_a) AS own_a, n_b/(n_b-1) * spread_b / (sw_b*sw_b) AS own_b,
         (n_a+n_b)/(n_a+n_b-2) * (spread_a+spread_b) / (sw_a+sw_b) AS per_cost
  FROM r2
), ab AS (
  SELECT {{.Key}}, model, SUM(wgt*share_a) AS mean_a, SUM(wgt*share_b) AS mean_b,
         SUM(wgt*wgt*own_a) AS var_a, SUM(wgt*wgt*own_b) AS var_b,
         SUM(wgt*wgt*own_a*wgt*wgt*own_a/(n_a-1)) AS freedom_a, SUM(wgt*wgt*own_b*wgt*wgt*own_b/(n_b-1)) AS freedom_b,
         SUM(wgt*wgt*per_cost/sw_a) AS common_a, SUM(wgt*wgt*per_cost/sw_b) AS common_b,
         SUM(nz_a) AS devices_a, SUM(nz_b) AS devices_b
  FROM r GROUP BY {{.Key}}, model
), noisy AS (
  -- There is at least the noise that there would be if both sides were equally noisy.
  SELECT *, CASE WHEN common_a + common_b > var_a + var_b THEN common_a + common_b ELSE var_a + var_b END AS noise
  FROM ab WHERE var_a + var_b > 0 AND devices_a + devices_b >= {{.LeastDevices}}
), z AS (
  SELECT *, (var_a+var_b)*(var_a+var_b)/(freedom_a+freedom_b) AS df, ABS(mean_b-mean_a)/SQRT(noise) AS z FROM noisy
), t AS (
  SELECT *, z*z/2 AS y2, 1/(1+z/SQRT(CAST(8 AS DOUBLE))) AS tt FROM z
), pv AS (
  SELECT *, tt*EXP(-y2-1.26551223+tt*(1.00002368+tt*(0.37409196+tt*(0.09678418+tt*(-0.18628806+tt*(0.27886807+tt*(-1.13520398+tt*(1.48851587+tt*(-0.82215223+tt*0.17087277))))))))) AS p_value
  FROM t
), bh AS (
  SELECT *, ROW_NUMBER() OVER (ORDER BY p_value, {{.Key}}, model) AS rk, COUNT(*) OVER () AS m FROM pv
), q AS (
  SELECT *, MIN(p_value*m/rk) OVER (ORDER BY rk DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS q0 FROM bh
){{if not .Category}}, fn AS (
  SELECT function_id, MIN(name) AS name, MIN(module) AS module FROM functions GROUP BY function_id
){{end}}
SELECT {{.RowOf}} AS row_of, {{.Counted}} AS counted, {{.Per}} AS per, {{.SampleType}} AS sample_type,
       {{.Before}} AS release_a, {{.After}} AS release_b, l.profiles_a AS profiles_a, l.profiles_b AS profiles_b,
       {{if .Category}}CAST(0 AS BIGINT) AS function_id, q.model AS device_model, q.category AS category, '' AS name, '' AS module,
       {{- else}}q.function_id AS function_id, q.model AS device_model, '' AS category, fn.name AS name, fn.module AS module,{{end}}
       q.mean_a AS mean_a, q.mean_b AS mean_b, q.var_a AS var_a, q.var_b AS var_b,
       q.freedom_a AS freedom_a, q.freedom_b AS freedom_b, q.common_a AS common_a, q.common_b AS common_b, q.devices_a AS devices_a, q.devices_b AS devices_b,
       q.z AS z, q.df AS df, q.p_value AS p_value, LEAST(CAST(1 AS DOUBLE), q.q0) AS q_value
FROM q {{if not .Category}}JOIN fn ON fn.function_id = q.function_id {{end}}CROSS JOIN ledger l
ORDER BY p_value, {{.Key}}, device_model
{{- end}}

{{define "compare" -}}
-- One release of a fleet against another. Devices are clusters, models of devices are strata with the same
-- weights on both sides. Sums are exact; only quotients and what follows from them are of floating point.
WITH {{template "population" .}}, {{if not (or .Category .Staged)}}{{template "names" .}}, {{end}}
{{- if not .Staged}}{{template "spent" .}}, {{end}}{{template "moments" .}}, {{template "rows" .}}
{{- end}}

{{/* DuckDB, which profdiff asks for all rows of functions, reads facts once for all of them: the moments become a table, one
release after the other, as sums of one are half as many to keep. Devices are numbers there, as groups of numbers are summed in a fraction
of the time that groups of texts take. What a device spends in a function is summed as a floating-point number, which takes half of the memory
of an integer of 128 bits, where that is as exact: what is no more than 2^53 in all is. Other devices are exact, too. */ -}}

{{define "device_numbers" -}}
CREATE TEMP TABLE device_numbers AS
WITH {{template "population" .}}
SELECT CAST(ROW_NUMBER() OVER () AS INT) AS device, release_id, device_model, unit_id, w FROM dev
{{- end}}

{{define "members" -}}
CREATE TEMP TABLE members AS
SELECT p.profile_id, p.batch_id, p.release_id, d.device, SUM(p.weight) OVER (PARTITION BY d.device) <= 9007199254740992 AS small
FROM profiles p JOIN device_numbers d ON d.release_id = p.release_id AND d.device_model = p.device_model AND d.unit_id = p.device_id
WHERE p.sample_type = {{.SampleType}} AND p.weight > 0 AND p.{{.Divisor}} > 0
{{- end}}

{{define "function_moments" -}}
CREATE TEMP TABLE function_moments (
  release_id VARCHAR, device_model VARCHAR, function_id BIGINT,
  self_nz HUGEINT, self_sx HUGEINT, self_sxx HUGEINT, self_sxw DECIMAL(38,0), total_nz HUGEINT, total_sx HUGEINT, total_sxx HUGEINT, total_sxw DECIMAL(38,0)
)
{{- end}}

{{define "release_moments" -}}
INSERT INTO function_moments
WITH {{if .Renamed}}{{template "names" .}}, {{end}}xd AS (
  SELECT m.device, {{if .Renamed}}i.to_id{{else}}f.function_id{{end}} AS function_id,
         CAST(SUM(CAST(f.self_value AS DOUBLE)) AS HUGEINT) AS x, CAST(SUM(CAST(f.total_value AS DOUBLE)) AS HUGEINT) AS y
  {{template "member_facts" .}} AND m.small
  GROUP BY m.device, {{if .Renamed}}i.to_id{{else}}f.function_id{{end}}
  UNION ALL
  SELECT m.device, {{if .Renamed}}i.to_id{{else}}f.function_id{{end}} AS function_id, SUM(f.self_value) AS x, SUM(f.total_value) AS y
  {{template "member_facts" .}} AND NOT m.small
  GROUP BY m.device, {{if .Renamed}}i.to_id{{else}}f.function_id{{end}}
)
SELECT d.release_id, d.device_model, x.function_id,
       SUM(CASE WHEN x.x > 0 THEN 1 ELSE 0 END) AS self_nz, SUM(x.x) AS self_sx, SUM(x.x*x.x) AS self_sxx, SUM(x.x*d.w) AS self_sxw,
       SUM(CASE WHEN x.y > 0 THEN 1 ELSE 0 END) AS total_nz, SUM(x.y) AS total_sx, SUM(x.y*x.y) AS total_sxx, SUM(x.y*d.w) AS total_sxw
FROM xd x JOIN device_numbers d ON d.device = x.device
GROUP BY d.release_id, d.device_model, x.function_id
{{- end}}

{{define "member_facts" -}}
FROM profile_functions f
  JOIN members m ON m.profile_id = f.profile_id AND m.batch_id = f.batch_id
  {{- if .Renamed}}
  JOIN ids i ON i.from_id = f.function_id
  {{- end}}
  WHERE f.sample_type = {{.SampleType}} AND m.release_id = {{.Release}}
{{- end}}
