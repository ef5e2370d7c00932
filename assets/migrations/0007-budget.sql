-- Spending caps of the fleet, of a user's agents, or of agents with a label.

create table budget (
  id uuid primary key,
  scope text not null check (scope in ('fleet', 'user', 'label')),
  -- The ID of the user or the label; empty for the fleet.
  subject text not null default '',
  period text not null check (period in ('day', 'month')),
  limit_usd double precision not null check (limit_usd >= 0),
  hard boolean not null,
  -- First day of the period for which a warning was sent.
  warned_for date,
  created_by text not null,
  created_at timestamptz(3) not null,
  unique (scope, subject, period)
);
