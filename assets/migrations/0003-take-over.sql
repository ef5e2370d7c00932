-- Machines that are lost, and what becomes of their sprints.

-- What a machine must have to take the agent.
alter table agent add column labels jsonb not null default '[]';
-- Somebody looks for another machine for it.
alter table agent add column moving_until timestamptz(3);

-- The slots that the machine itself has named last; `slots` is what counts, and an admin may change it.
alter table machine add column offers int;

-- The commit with its files as they are now, if its machine has pushed them.
alter table sprint add column pushed text;

-- Its machine was lost, and has told after all how it ended.
alter table agent_prompt add column late_at timestamptz(3);

-- Machines that an agent was on before another one has taken it over.
create table placement (
  agent_id uuid not null references agent on delete cascade,
  machine_id uuid not null references machine on delete cascade,
  ended_at timestamptz(3) not null,
  primary key (agent_id, machine_id)
);
