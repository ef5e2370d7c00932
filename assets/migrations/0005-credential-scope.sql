-- Tickets and sessions carry the scope of the credential that created them. Sessions from before were people at the page.

alter table ticket add column scope text not null default 'admin';
alter table session add column scope text not null default 'admin';
