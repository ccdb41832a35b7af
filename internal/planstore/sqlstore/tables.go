package sqlstore

// Tables makes the tables, in PostgreSQL's types. A plan's row is its place in the
// order of writing (seq), which a replacement takes anew. Bodies of conversations
// are packed already. What hangs on a conversation goes with it. Rows of tables that
// are marked /*by key*/ are small and only found by their key.
const Tables = `
create table winnow.plans (
	seq    bigserial primary key,
	tenant text not null,
	first  bytea not null,
	prefix bytea not null,
	len    integer not null,
	id     text not null,
	body   bytea not null,
	size   integer not null,
	used   bigint not null,
	unique (tenant, first, prefix)
);
create index plans_heads on winnow.plans (tenant, first, len desc, seq desc);
create index plans_id on winnow.plans (tenant, id);
create index plans_used on winnow.plans (used, seq, size);
create table winnow.marks (
	tenant     text not null,
	first      bytea not null,
	chain      bytea not null,
	len        integer not null,
	steps      bytea not null,
	not_lasted integer not null,
	used       bigint not null,
	primary key (tenant, first, chain)
);
create index marks_used on winnow.marks (used);
create table winnow.originals (
	tenant  text not null,
	first   bytea not null,
	prefix  bytea not null,
	len     integer not null,
	dialect text not null,
	model   text not null,
	body    bytea not null,
	size    integer not null,
	used    bigint not null,
	primary key (tenant, first, prefix)
);
create index originals_used on winnow.originals (used, size);
create table winnow.prepared (
	tenant text not null,
	first  bytea not null,
	base   text not null,
	body   bytea not null,
	used   bigint not null,
	primary key (tenant, first, base)
);
create index prepared_used on winnow.prepared (used);
create table winnow.conversations (
	tenant   text not null,
	first    bytea not null,
	id       text not null,
	parent   text not null,
	shared   integer not null,
	dialect  text not null,
	model    text not null,
	created  bigint not null,
	used     bigint not null,
	len      integer not null,
	chain    bytea not null,
	label    text not null,
	folder   text not null,
	plan     text not null,
	wanted   text not null,
	revision bigint not null,
	totals   bytea not null,
	last     bytea,
	primary key (tenant, id)
);
create index conversations_first on winnow.conversations (tenant, first);
create index conversations_used on winnow.conversations (used);
create table winnow.requests (
	tenant text not null, id text not null, n integer not null, revision bigint not null, body bytea not null,
	primary key (tenant, id, n),
	foreign key (tenant, id) references winnow.conversations on delete cascade
) /*by key*/;
create table winnow.links (
	tenant text not null, id text not null, start integer not null, links bytea not null,
	primary key (tenant, id, start),
	foreign key (tenant, id) references winnow.conversations on delete cascade
) /*by key*/;
create table winnow.settled (
	tenant text not null, id text not null, n integer not null, body bytea not null,
	primary key (tenant, id, n),
	foreign key (tenant, id) references winnow.conversations on delete cascade
) /*by key*/;
create table winnow.former (
	tenant text not null, id text not null, plan text not null, body bytea not null,
	primary key (tenant, plan, id),
	foreign key (tenant, id) references winnow.conversations on delete cascade
) /*by key*/;
create index former_id on winnow.former (tenant, id);
create table winnow.pins (
	seq    bigserial primary key,
	tenant text not null, first bytea not null, id text not null, len integer not null, chain bytea not null, part integer not null, pinned boolean not null,
	unique (tenant, id, chain, part)
);
create index pins_first on winnow.pins (tenant, first);
create table winnow.limits (
	tenant text not null, name text not null, value bytea not null, used bigint not null,
	primary key (tenant, name)
);
create index limits_used on winnow.limits (used);
create table winnow.spent (
	name  text primary key,
	until bigint not null
) /*by key*/;
create table winnow.secret (
	one   integer primary key check (one = 1),
	value bytea not null
);
create table winnow.checks (
	one  integer primary key check (one = 1),
	used bigint not null,
	body bytea not null
);
create table winnow.copies (
	source text primary key,
	place  text not null
);
`

// NoteTables is the second version of the tables: pins may be notes.
const NoteTables = `
alter table winnow.pins add column note text not null default '';
alter table winnow.pins add column noted bigint not null default 0;
`
