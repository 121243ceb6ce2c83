-- expand
-- The job due-work looks for rollouts under way ten times a second, however many rollouts are over.
create index rollouts_under_way on rollouts (status)
  where status not in ('ready', 'waiting_for_approval', 'approval_denied', 'finished', 'stopped', 'deleted');
