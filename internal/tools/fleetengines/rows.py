"""Runs what `profdiff fleet sql` prints on an engine that is a library of Python, and writes the rows.

    rows.py duckdb|datafusion|clickhouse compare.sql rows.jsonl [...]
"""
import decimal
import json
import sys


def duckdb(statements):
    import duckdb as engine

    connection = engine.connect()
    for statement in statements[:-1]:
        connection.execute(statement)
    return connection.sql(statements[-1]).to_arrow_table().to_pylist()


def datafusion(statements):
    import datafusion as engine

    context = engine.SessionContext()
    for statement in statements[:-1]:
        context.sql(statement)
    return [row for batch in context.sql(statements[-1]).collect() for row in batch.to_pylist()]


def clickhouse(statements):
    from chdb.session import Session

    session = Session()
    for statement in statements[:-1]:
        session.query(statement)
    text = str(session.query(statements[-1], "JSONEachRow"))
    return [json.loads(line) for line in text.splitlines()]


def plain(value):
    """Exact sums are decimals in some engines, and text in others."""
    return int(value) if isinstance(value, decimal.Decimal) else value


engine = globals()[sys.argv[1]]
for path, out in zip(sys.argv[2::2], sys.argv[3::2]):
    with open(path, encoding="utf-8") as sql:
        statements = sql.read().rstrip().removesuffix(";").split(";\n")
    with open(out, "w", encoding="utf-8") as rows:
        for row in engine(statements):
            print(json.dumps({name: plain(value) for name, value in row.items()}), file=rows)
