-- SPDX-License-Identifier: GPL-2.0
-- Work for the distribution's sqlite3: joins, sorting, windows, an index, text. In a file,
-- with a journal, so that it also waits for the disk.
pragma cache_size = 200;
create table words(id integer primary key, word text, weight real);
create table links(a integer, b integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)
insert into words select i, printf('%x-%s', i * 7919 % 65521, hex(i * i)), i % 97 * 0.5 from n;
insert into links select id, id * 31 % 6000 + 1 from words;
create index links_b on links(b, a);
create index words_word on words(word collate nocase);
select count(*), sum(w.weight) from links l join words w on w.id = l.b where l.a % 3 = 0;
select max(r) from (select rank() over (partition by id % 10 order by word) r from words);
select count(*) from words where word like '%a1%' or word glob '*F[0-9]*';
update words set word = upper(word) || id where id % 5 = 0;
delete from links where a % 11 = 0;
begin; insert into links values (1, 1); commit;
begin; insert into links values (2, 2); commit;
begin; insert into links values (3, 3); commit;
select group_concat(substr(word, 1, 2), '') = '' from words order by word limit 3;
vacuum;
pragma integrity_check;
