package postgres

import "github.com/winnow-llm/winnow/internal/pg"

// Schema returns the tables that the store needs, for a program that makes them. The
// entries of a session are numbered without gaps: a writer holds the session's row.
// indexed is up to where its words are in the index.
func Schema() pg.Schema {
	return pg.Schema{Part: "sessions", Steps: []string{`
create table winnow.sessions (
	key      bigserial primary key,
	id       text not null unique,
	header   bytea not null,
	created  timestamptz not null,
	modified timestamptz not null,
	bytes    bigint not null,
	entries  bigint not null,
	indexed  bigint not null default 0,
	name     text not null default '',
	title    text not null default ''
) with (fillfactor = 80);
create index sessions_modified on winnow.sessions (modified desc, id desc);
create index sessions_to_index on winnow.sessions (key) where indexed < entries;
create table winnow.entries (
	session bigint not null references winnow.sessions (key) on delete cascade,
	seq     bigint not null,
	raw     bytea not null,
	primary key (session, seq)
);
create table winnow.words (
	session bigint not null references winnow.sessions (key) on delete cascade,
	seq     bigint not null,
	words   tsvector not null,
	primary key (session, seq)
);
create index words_words on winnow.words using gin (words);
`}}
}
