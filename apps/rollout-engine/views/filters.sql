-- Target filters and the sets that they assign. Management shows and counts them; controller asks whether an assignment is still valid, and whether a
-- filter depends on last polls (the name of the field is enough, because an unnecessary evaluation does no harm).

create or replace view target_filters_v1 as
  select tenant_id, id, name, auto_assign_set_id, auto_assign_epoch,
         query ~* 'lastcontrollerrequestat' as asks_polls,
         standalone -- it is an auto-assignment that belongs to no filter
    from target_filters;

grant select on target_filters_v1 to harrier_controller, harrier_management;

-- Targets that a filter is about to assign its set to; controller reads them in chunks.
create or replace view auto_assign_candidates_v1 as
  select tenant_id, filter_id, pass, target_id from auto_assign_candidates;

grant select on auto_assign_candidates_v1 to harrier_controller;
