-- Who may run agents on a machine. A machine that joined before has no owner: admins grant access to it.

alter table machine add column owner_id uuid references "user" on delete set null;
alter table machine add column shared boolean not null default false;

create table machine_grant (
  machine_id uuid not null references machine on delete cascade,
  user_id uuid not null references "user" on delete cascade,
  level text not null check (level in ('run', 'command')),
  roots jsonb not null default '[]',
  granted_by uuid references "user" on delete set null,
  created_at timestamptz(3) not null,
  primary key (machine_id, user_id)
);
create index machine_grant_of_user on machine_grant (user_id);
