-- Somebody wants the sprint to go on, while the machine has not confirmed yet that it has stopped.
alter table sprint add column resume_asked_at timestamptz(3);
