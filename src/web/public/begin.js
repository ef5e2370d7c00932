// Before everything else. The theme that was chosen here last, if any; otherwise the system decides.
{
  const chosen = localStorage.getItem('ralph.theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
}
// zod makes faster checks with eval if it may. It may not here, and to try would already be a violation of the policy.
// oxlint-disable-next-line no-underscore-dangle -- its name for it
globalThis.__zod_globalConfig = { jitless: true }
