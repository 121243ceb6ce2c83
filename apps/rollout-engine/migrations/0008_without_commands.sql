-- contract
-- Nothing reads or writes it: the commands of rollouts are idempotent by their own keys.
drop table commands;
