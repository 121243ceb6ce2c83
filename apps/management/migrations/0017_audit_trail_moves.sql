-- contract
-- The audit trail is in a schema of its own beside this one, <schema>_audit, and belongs to a role that nobody signs in as: whoever owns a table
-- can empty it and switch off its triggers. The administrator's set-up of the database (packages/db, bootstrap) makes it there, and moves what
-- is here. What remains are the empty tables of a new installation.
do $$
declare
  used boolean := false;
begin
  if to_regclass(current_schema() || '.audit_chain') is null then
    return;
  end if;
  execute 'select exists (select from audit_pending) or exists (select from audit_entries) or exists (select from audit_chain where number > 0)'
     into used;
  if used then
    raise exception 'the audit trail still belongs to its service: run the set-up of the database as its administrator (docs/operations.md, Audit trail)';
  end if;
end $$;
drop view if exists audit_v1, audit_batches_v1, audit_chain_v1;
drop table if exists audit_pending, audit_entries, audit_batches, audit_chain;
drop function if exists audit_stays(), audit_ended_stays();
