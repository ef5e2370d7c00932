-- Passkeys of users, and the challenges that browsers sign with them.

create table passkey (
  id uuid primary key,
  credential_id text not null unique,
  user_id uuid not null references "user" on delete cascade,
  name text not null,
  public_key text not null,
  counter bigint not null,
  transports jsonb not null default '[]',
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3)
);
create index passkey_user on passkey (user_id);

create table passkey_challenge (
  challenge text primary key,
  -- The user who adds a passkey; null for a sign-in.
  user_id uuid references "user" on delete cascade,
  expires_at timestamptz(3) not null
);

-- Sessions of passkeys say so.
alter table session drop constraint if exists session_signed_in_by_check;
