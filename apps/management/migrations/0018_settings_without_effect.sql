-- expand
-- Settings that were stored while they had no effect. Batches need messaging, which is not there; where several assignments stand side by
-- side nothing is closed by a new one (contract rollouts.md §6.9), and from now on the two exclude each other.
delete from settings s where s.key = 'batch.assignments.enabled';
delete from settings s
 where s.key = 'repository.actions.autoclose.enabled' and s.value = 'true'::jsonb
   and exists (select from settings m where m.tenant_id = s.tenant_id and m.key = 'multi.assignments.enabled' and m.value = 'true'::jsonb);
