"""Compares two releases of a fleet with Spark.

    profdiff fleet sql store --engine spark -o compare.sql
    spark-submit spark_compare.py compare.sql rows.jsonl
    profdiff fleet compare store --rows rows.jsonl
"""
import json
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("profdiff fleet compare").getOrCreate()
for statements, out in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(statements, encoding="utf-8") as sql:
        *views, query = sql.read().rstrip().removesuffix(";").split(";\n")
    for view in views:
        spark.sql(view)
    with open(out, "w", encoding="utf-8") as rows:
        for row in spark.sql(query).collect():
            print(json.dumps(row.asDict(), default=int), file=rows)  # exact sums are decimals
spark.stop()
