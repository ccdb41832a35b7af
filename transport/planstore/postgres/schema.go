package postgres

import (
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
)

// schema is the tables of plans, with how PostgreSQL stores them: rows that are
// written over and over leave room for that, and bodies that are packed already are
// not packed again.
var schema = pg.Schema{Part: "plans", Steps: []string{sqlstore.Tables + `
alter table winnow.marks set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
alter table winnow.originals set (autovacuum_vacuum_scale_factor = 0.02);
alter table winnow.conversations set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
alter table winnow.originals alter column body set storage external;
alter table winnow.checks alter column body set storage external;
create function winnow.clock(given bigint) returns bigint language sql stable parallel safe
	as 'select coalesce(given, (extract(epoch from statement_timestamp()) * 1000000)::bigint)';
create function winnow.instr(whole bytea, part bytea) returns integer language sql immutable parallel safe
	as 'select position(part in whole)';
create function winnow.next_plans() returns bigint language sql as 'select nextval(''winnow.plans_seq_seq'')';
create function winnow.next_pins() returns bigint language sql as 'select nextval(''winnow.pins_seq_seq'')';
create function winnow.disk_bytes() returns bigint language sql stable
	as 'select sum(pg_total_relation_size(c.oid))::bigint from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = ''winnow'' and c.relkind = ''r''';
create function winnow.tables_version() returns integer language sql stable as 'select version from winnow.versions where part = ''plans''';
`, sqlstore.NoteTables}}

// Schema returns the tables that the store needs, for a program that makes them.
func Schema() pg.Schema { return schema }
