-- expand
-- How the progress of rollouts has changed over time (contract console.md §2): what each bucket gained or lost in a minute, in an hour where that is more
-- than a day ago, and in a day where it is more than thirty days ago. It is written with the fold of the deltas, so reports of devices pay nothing for it.
create table rollout_progress (
  tenant_id  int not null,
  rollout_id bigint not null,
  minute     int not null,              -- minutes since 1970-01-01 UTC, of the beginning
  bucket     smallint not null,         -- as in group_progress
  n          bigint not null,
  primary key (tenant_id, rollout_id, minute, bucket)
);
-- What is to become coarser: minutes that begin no hour, hours that begin no day.
create index rollout_progress_minutes_due on rollout_progress (minute) where minute % 60 <> 0;
create index rollout_progress_hours_due on rollout_progress (minute) where minute % 1440 <> 0;
