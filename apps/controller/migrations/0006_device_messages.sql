-- expand
-- Up to where the outbox has been sent to things as messages, and which replica of dmf sends them (apps/dmf). Nobody has held it: nobody reads it, and
-- partitions of the outbox do not wait for it.
create table device_messages_cursor (
  one        boolean primary key default true check (one),
  position   jsonb not null default '{}',
  holder     text,
  held_until timestamptz
);
insert into device_messages_cursor default values;
