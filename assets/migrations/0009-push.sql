-- Browsers that receive notifications, and the key pair that identifies this backend to their push services.

create table push_subscription (
  id uuid primary key,
  user_id uuid not null references "user" on delete cascade,
  endpoint text not null unique,
  p256dh text not null,
  auth text not null,
  created_at timestamptz(3) not null
);
create index push_subscription_of_user on push_subscription (user_id);

create table push_key (
  id int primary key check (id = 1),
  public_key text not null,
  private_key text not null
);

alter table delivery add column push_id uuid;
-- The schema of the code knows the values; a check would be in the way of older versions with every new one.
alter table delivery drop constraint delivery_via_check;
