-- expand
-- The functions and the view of this release are not those of the one before; an image of that one knows by this file that it is older.
comment on table action_history is 'A row for each change of an action, but that an action of a rollout was scheduled: the action itself says it (ADR 61).';
comment on column actions.revision is 'The number of its entries in action_statuses_v1, and the sequence of its newest event.';
