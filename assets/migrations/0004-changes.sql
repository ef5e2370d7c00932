-- Rows that have changed, without what agents say: they are told to those who look, and forgotten after a day.

create index event_change on event (tx, id) where kind <> 'event';
