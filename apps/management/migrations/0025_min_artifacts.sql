-- expand
-- Artifacts that a module of a type needs to be complete, and with it every set that holds it; 0: none. What a set lacks of them is counted where it is
-- read: uploads and deletions change modules that many sets share.
alter table software_module_types add column min_artifacts int not null default 0 check (min_artifacts >= 0);
