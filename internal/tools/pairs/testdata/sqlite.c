/* Fills tables, and reads them back by index, by join and by full scans: the work is the same for every version. */
#include <stdio.h>
#include <stdlib.h>
#include "sqlite3.h"
static sqlite3 *db;
static void run(const char *sql) {
	char *err = NULL;
	if (sqlite3_exec(db, sql, NULL, NULL, &err) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, err);
		exit(1);
	}
}
static long long number(const char *sql) {
	sqlite3_stmt *s;
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
	long long v = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return v;
}
int main(void) {
	if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
	run("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, owner INTEGER, price REAL);"
	    "CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT);"
	    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60000)"
	    " INSERT INTO item SELECT i, printf('item %d', (i*7919)%60000), (i*104729)%3000, (i*31)%1000/10.0 FROM n;"
	    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<2999)"
	    " INSERT INTO owner SELECT i, printf('owner %d', i) FROM n;"
	    "CREATE INDEX by_name ON item(name); CREATE INDEX by_owner ON item(owner, price);");
	long long sum = 0;
	sqlite3_stmt *s;
	sqlite3_prepare_v2(db, "SELECT id FROM item WHERE name = printf('item %d', ?)", -1, &s, NULL);
	for (int i = 0; i < 60000; i++) {
		sqlite3_bind_int(s, 1, (i * 31337LL) % 60000);
		while (sqlite3_step(s) == SQLITE_ROW) sum += sqlite3_column_int64(s, 0);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	for (int i = 0; i < 10; i++) {
		sum += number("SELECT sum(length(o.name)) FROM item i JOIN owner o ON o.id = i.owner WHERE i.price > 20");
		sum += number("SELECT count(*) FROM (SELECT owner, sum(price) s, max(name) FROM item GROUP BY owner HAVING s > 100 ORDER BY s)");
		sum += number("SELECT count(*) FROM item WHERE name LIKE '%77%'");
	}
	printf("%lld\n", sum);
	return sqlite3_close(db);
}
