"""Reads the profiles of a fleet with Spark, whose workers see no common file system.

    cd PROFILES && profdiff fleet plan --manifest profiles.csv --salt-file secret -o plan.jsonl
    spark-submit --files "$(command -v profdiff)" spark_ingest_remote.py plan.jsonl s3a://BUCKET/profiles s3://BUCKET/store receipts.jsonl

Spark reads the profiles, whose paths in the plan are relative, and hands those of a line of the plan to profdiff; what profdiff
writes goes to the store by the file systems of Arrow: file://, s3://, gs://, hdfs://. The ledger goes after the
tables, receipts go last.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import pyarrow
from pyarrow import fs
from pyspark import SparkFiles
from pyspark.sql import SparkSession, functions


def upload(directory, store):
    """Copies the tables to the store. A file gets its name when it is complete."""
    files, root = fs.FileSystem.from_uri(store)
    paths = [os.path.relpath(path, directory) for path in glob.glob(f"{directory}/**", recursive=True) if os.path.isfile(path)]
    for path in sorted(paths, key=lambda path: (path.startswith("receipts/"), path.startswith("profiles/"))):
        to, name = os.path.split(f"{root}/{path}")
        files.create_dir(to)
        with open(f"{directory}/{path}", "rb") as data, files.open_output_stream(f"{to}/.{name}") as stream:
            stream.write(data.read())
        files.move(f"{to}/.{name}", f"{to}/{name}")


def worker(store):
    def work(profiles):
        with tempfile.TemporaryDirectory() as directory:
            for path, content in zip(profiles["path"].to_pylist(), profiles["content"].to_pylist()):
                if content is not None:  # profdiff accounts for what is missing
                    os.makedirs(os.path.dirname(f"{directory}/{path}"), exist_ok=True)
                    with open(f"{directory}/{path}", "wb") as file:
                        file.write(content)
            command = [SparkFiles.get("profdiff"), "fleet", "worker", "--out", "store"]
            spec = profiles["spec"][0].as_py().encode()
            receipt = subprocess.run(command, input=spec, stdout=subprocess.PIPE, cwd=directory, check=True).stdout
            upload(f"{directory}/store", store)
        return pyarrow.table({"receipt": [receipt.decode().rstrip()]})

    return work


def bare(path):
    return re.sub("^[a-z0-9+.-]+:/*|^/+", "", path).rstrip("/")


plan, profiles, store, out = sys.argv[1:]
spark = SparkSession.builder.appName("profdiff fleet worker").getOrCreate()
with open(plan, encoding="utf-8") as lines:
    specs = spark.createDataFrame([(line,) for line in lines.read().splitlines()], "spec string")
listed = specs.select("spec", functions.explode(functions.from_json("spec", "profiles array<struct<path string>>").profiles.path).alias("path"))
found = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(profiles).select(
    functions.regexp_replace("path", "^[a-z0-9+.-]+:/*", "").substr(functions.lit(len(bare(profiles)) + 2), functions.lit(1 << 20)).alias("path"), "content")
done = listed.join(found, "path", "left").groupBy("spec").applyInArrow(worker(store), "receipt string")
with open(out, "w", encoding="utf-8") as receipts:
    for row in done.collect():
        print(row.receipt, file=receipts)
spark.stop()
