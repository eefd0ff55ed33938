"""Reads the profiles of a fleet with Spark, whose workers see the profiles and the store as files.

    profdiff fleet plan --manifest profiles.csv --salt-file secret -o plan.jsonl
    spark-submit --files "$(command -v profdiff)" spark_ingest.py plan.jsonl /mnt/fleet/store receipts.jsonl

Spark hands each line of the plan to profdiff, again if an executor is lost, and twice if one is slow: a line
always becomes the same bytes.
"""
import shlex
import sys

from pyspark.sql import SparkSession

plan, store, out = sys.argv[1:]
spark = SparkSession.builder.appName("profdiff fleet worker").getOrCreate()
with open(plan, encoding="utf-8") as lines:
    specs = lines.read().splitlines()
worker = f"./profdiff fleet worker --out {shlex.quote(store)}"
with open(out, "w", encoding="utf-8") as receipts:
    for receipt in spark.sparkContext.parallelize(specs, len(specs)).pipe(worker, checkCode=True).collect():
        print(receipt, file=receipts)
spark.stop()
