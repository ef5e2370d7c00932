-- People, and what they may do.

create table "user" (
  id uuid primary key,
  name text not null,
  email text,
  role text not null check (role in ('member', 'admin')),
  -- Who they are to the identity provider: issuer and subject.
  subject text unique,
  created_at timestamptz(3) not null,
  disabled_at timestamptz(3)
);

create table session (
  -- SHA-256 of the cookie.
  hash text primary key,
  user_id uuid not null references "user" on delete cascade,
  signed_in_by text not null check (signed_in_by in ('local', 'oidc')),
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

-- Good once: taken by deleting it.
create table ticket (
  hash text primary key,
  user_id uuid not null references "user" on delete cascade,
  expires_at timestamptz(3) not null
);

create table api_token (
  id uuid primary key,
  user_id uuid not null references "user" on delete cascade,
  name text not null,
  scope text not null check (scope in ('read', 'write', 'admin')),
  hash text not null unique,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);

-- Machines.

create table machine (
  id uuid primary key,
  name text not null,
  status text not null check (status in ('pending', 'active', 'cordoned', 'draining', 'revoked')),
  local boolean not null default false,
  version text,
  platform text,
  labels jsonb not null default '[]',
  slots int not null default 4,
  programs jsonb not null default '[]',
  roots jsonb not null default '[]',
  disk_free_bytes bigint,
  clock_skew_ms bigint,
  certificate_serial text,
  certificate_expires_at timestamptz(3),
  alarm text,
  -- The replica that holds its connection, and which connection that is. Null: none does.
  connected_to text,
  connected_at timestamptz(3),
  epoch bigint not null default 0,
  -- How often its agents-server has started, and which start it is: a copy of its key is found out by it.
  boot_epoch bigint not null default 0,
  boot_id text,
  last_seen_at timestamptz(3),
  created_at timestamptz(3) not null
);

create table join_token (
  id uuid primary key,
  hash text not null unique,
  name text,
  labels jsonb not null default '[]',
  created_by uuid references "user" on delete set null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- The key of the machine that has used it.
  key_pin text,
  approve boolean not null default false,
  machine_id uuid references machine on delete set null
);

-- Whom machines trust. One for all replicas.
create table authority (
  id int primary key default 1 check (id = 1),
  certificate text not null,
  key text not null
);

-- Questions to machines that somebody waits for: the replica that asks need not be the one that holds the connection.
create table machine_call (
  id text primary key,
  machine_id uuid not null references machine on delete cascade,
  type text not null,
  -- Null: it is in the outbox.
  body jsonb,
  reply jsonb,
  created_at timestamptz(3) not null
);
create index machine_call_open on machine_call (machine_id) where reply is null;

-- What machines are still to be told. A row goes when the machine has it on its disk.
create table machine_outbox (
  id bigserial primary key,
  machine_id uuid not null references machine on delete cascade,
  -- The same message never has two rows.
  message_id text not null,
  message jsonb not null,
  created_at timestamptz(3) not null,
  unique (machine_id, message_id)
);

-- Agents and their prompts.

create table agent (
  id uuid primary key,
  name text not null,
  machine_id uuid not null references machine,
  workspace jsonb not null,
  program text not null,
  model text,
  -- Whose usage limit it shares.
  account text not null,
  state text not null check (state in ('creating', 'idle', 'running', 'archived', 'failed')),
  reason text,
  in_ralph_mode boolean not null default false,
  ralph_mode_task_description text,
  ralph_mode_last_prompt_at timestamptz(3),
  ralph_mode_min_interval_ms bigint not null default 0,
  notes_folder text,
  sprint_id uuid,
  -- A person's next prompt goes on in the same conversation.
  in_conversation boolean not null default false,
  -- Up to where its events are stored.
  events_seq bigint not null default 0,
  created_at timestamptz(3) not null,
  archived_at timestamptz(3)
);
create index agent_of_machine on agent (machine_id);

create table access (
  agent_id uuid not null references agent on delete cascade,
  user_id uuid not null references "user" on delete cascade,
  level text not null check (level in ('read', 'write', 'owner')),
  primary key (agent_id, user_id)
);
create index access_of_user on access (user_id);

create table agent_prompt (
  id uuid primary key,
  agent_id uuid not null references agent on delete cascade,
  prompt text not null,
  status text not null check (status in ('queued', 'running', 'finished', 'failed', 'cancelled', 'parked')),
  model text,
  by text not null,
  user_id uuid references "user" on delete set null,
  sprint_id uuid,
  iteration int,
  order_id text,
  attempt int not null default 0,
  position double precision not null,
  not_before timestamptz(3),
  lease_until timestamptz(3),
  -- The machine has it on its disk.
  stored_at timestamptz(3),
  error text,
  answer text,
  cost_usd double precision,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3)
);
create unique index agent_prompt_running on agent_prompt (agent_id) where status = 'running';
create index agent_prompt_waiting on agent_prompt (agent_id, position) where status in ('queued', 'parked');
create index agent_prompt_history on agent_prompt (agent_id, created_at desc, id desc);
create index agent_prompt_lease on agent_prompt (lease_until) where status = 'running';
create index agent_prompt_of_sprint on agent_prompt (sprint_id, iteration) where sprint_id is not null;

create table conversation (
  id uuid primary key,
  agent_id uuid not null references agent on delete cascade,
  sprint_id uuid,
  iteration int,
  prompt_id uuid,
  messages int not null,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
create index conversation_of_agent on conversation (agent_id, started_at desc);
create index conversation_open on conversation (agent_id) where ended_at is null;

-- Sprints.

create table sprint (
  id uuid primary key,
  agent_id uuid not null references agent on delete cascade,
  protocol text not null check (protocol in ('notes', 'report')),
  rev int not null,
  status text not null,
  progress jsonb not null,
  observed boolean not null default false,
  -- Events so far.
  seq int not null default 0,
  diff jsonb,
  branch text,
  start_at timestamptz(3),
  started_by text,
  last_event_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index sprint_of_agent on sprint (agent_id, created_at desc);
create index sprint_newest on sprint (created_at desc, id desc);

-- What is to be done next in a sprint. Open until its fact has come.
create table sprint_order (
  id text primary key,
  sprint_id uuid not null references sprint on delete cascade,
  agent_id uuid not null,
  type text not null,
  "order" jsonb not null,
  status text not null check (status in ('queued', 'open', 'done', 'dropped')),
  -- Others of the agent wait until it is done.
  blocking boolean not null,
  prompt_id uuid,
  due_at timestamptz(3),
  created_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
create index sprint_order_live on sprint_order (agent_id) where status in ('queued', 'open');
create index sprint_order_due on sprint_order (due_at) where type = 'wait' and status = 'open';
create index sprint_order_of_sprint on sprint_order (sprint_id, created_at);

-- A fact is taken once.
create table fact (
  sprint_id uuid not null references sprint on delete cascade,
  id text not null,
  rev int not null,
  type text not null,
  at timestamptz(3) not null,
  primary key (sprint_id, id)
);

create table iteration (
  sprint_id uuid not null references sprint on delete cascade,
  number int not null,
  agent_id uuid not null,
  verdict text not null,
  record jsonb not null,
  duration_ms bigint not null,
  cost_usd double precision,
  ended_at timestamptz(3) not null,
  primary key (sprint_id, number)
);
create index iteration_of_agent on iteration (agent_id, ended_at desc);

create table checkpoint (
  sprint_id uuid not null references sprint on delete cascade,
  iteration int not null,
  commit text not null,
  at timestamptz(3) not null,
  primary key (sprint_id, iteration)
);

create table question (
  id uuid primary key,
  sprint_id uuid not null references sprint on delete cascade,
  agent_id uuid not null references agent on delete cascade,
  status text not null check (status in ('open', 'answered', 'expired', 'superseded', 'dismissed')),
  reason text not null,
  details text not null,
  options jsonb,
  default_answer text,
  iteration int,
  asked_at timestamptz(3) not null,
  answer text,
  answered_by text,
  answered_at timestamptz(3)
);
create unique index question_open on question (sprint_id) where status = 'open';
create index question_newest on question (asked_at desc, id desc);

-- What happened, for everybody who looks: `event` is one of a sprint, the other kinds name a row that has changed.
-- Read in the order of (tx, id), and only below the oldest transaction that is still under way: ids alone are given out before
-- their transactions are committed, and a reader that only remembers the highest one would miss some.
create table event (
  id bigserial primary key,
  tx xid8 not null default pg_current_xact_id(),
  kind text not null check (kind in ('event', 'agent', 'agent-gone', 'prompt', 'machine', 'question', 'sprint')),
  agent_id uuid,
  sprint_id uuid,
  prompt_id uuid,
  machine_id uuid,
  question_id uuid,
  seq int,
  type text,
  iteration int,
  payload jsonb,
  -- Where the machine has the whole of it.
  clipped text,
  at timestamptz(3) not null
);
create index event_feed on event (tx, id);
create index event_of_sprint on event (sprint_id, seq desc) where kind = 'event';
create index event_of_prompt on event (prompt_id, seq desc) where kind = 'event' and prompt_id is not null;

-- Money, tokens, limits.

create table usage (
  day date not null,
  agent_id uuid not null references agent on delete cascade,
  -- Empty: not known.
  model text not null,
  cost_usd double precision not null default 0,
  unpriced int not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  iterations int not null default 0,
  primary key (day, agent_id, model)
);

create table account_limit (
  account text primary key,
  until timestamptz(3) not null,
  reason text not null,
  agent_id uuid,
  noted_at timestamptz(3) not null
);

-- Telling people.

create table webhook (
  id uuid primary key,
  url text not null,
  events jsonb not null,
  enabled boolean not null default true,
  secret text not null,
  created_by uuid references "user" on delete set null,
  created_at timestamptz(3) not null
);

create table delivery (
  id uuid primary key,
  webhook_id uuid references webhook on delete set null,
  via text not null check (via in ('webhook', 'browser')),
  "to" text not null,
  event text not null,
  sprint_id uuid,
  body jsonb not null,
  status text not null check (status in ('waiting', 'sent', 'suppressed', 'failed')),
  tries int not null default 0,
  next_try_at timestamptz(3),
  error text,
  created_at timestamptz(3) not null,
  sent_at timestamptz(3)
);
create index delivery_due on delivery (next_try_at) where status = 'waiting';
create index delivery_newest on delivery (created_at desc, id desc);

-- Who did what. Rows are added, never changed.
create table audit (
  id bigserial primary key,
  at timestamptz(3) not null,
  who text not null,
  user_id uuid,
  what text not null,
  target text,
  details jsonb
);
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only added to';
end $$;
create trigger audit_is_final before update or delete on audit for each row execute function refuse_change();

-- The machine room.

-- Replicas; one that was not seen for a while is dead, and its work is taken over.
create table executor (
  id text primary key,
  last_seen timestamptz(3) not null
);

-- What a call was answered, for the same call again.
create table idempotency (
  user_id uuid not null references "user" on delete cascade,
  key text not null,
  request_hash text not null,
  status int,
  response jsonb,
  created_at timestamptz(3) not null,
  primary key (user_id, key)
);
