import { Link, useNavigate } from '@tanstack/react-router'
import { Menu as MenuIcon, Monitor, Moon, Play, Sun } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { Kbd } from '../ui/badge.tsx'
import { classes } from '../ui/classes.ts'
import { Dot } from '../ui/dot.tsx'
import { Menu } from '../ui/menu.tsx'
import { Crumbs } from './crumbs.tsx'
import { commandKey } from '../words/command-key.ts'
import { useOpenStart } from './start-target.ts'
import { useTheme } from './theme.ts'
import { useOpenQuestions } from './title.ts'

export function Header({ onSearch }: { onSearch: () => void }) {
  const start = useOpenStart()
  return (
    <header className="sticky top-0 z-30 flex h-11 items-center gap-3 border-b border-line bg-panel px-[max(1.25rem,calc((100%_-_var(--page-width))/2_+_1.25rem))] max-sm:gap-2 max-sm:px-3">
      <Link to="/" className="flex items-center gap-2 font-semibold tracking-tight">
        <img src="/icon.svg" alt="" className="size-5" />
        <span className="max-sm:sr-only">Ralph</span>
      </Link>
      <Crumbs />
      <nav aria-label="Navigation" className="flex items-center gap-1 max-lg:hidden">
        <HeaderLink to="/machines">Machines</HeaderLink>
        <HeaderLink to="/usage">Spend</HeaderLink>
        <HeaderLink to="/settings">Settings</HeaderLink>
      </nav>
      <button type="button" onClick={onSearch} className="rounded p-0.5 hover:bg-sunken max-sm:hidden">
        <Kbd>{commandKey}K</Kbd>
        <span className="sr-only">Search and commands</span>
      </button>
      <span className="max-lg:hidden">
        <ThemeMenu />
      </span>
      <PlacesMenu onSearch={onSearch} />
      <NeedsYou />
      <Button kind="primary" onClick={start} aria-label="Start Ralph Mode">
        <Play aria-hidden className="size-3.5 sm:hidden" />
        <span className="max-sm:hidden">Start Ralph Mode</span>
      </Button>
    </header>
  )
}

const HeaderLink = ({ to, children }: { to: '/machines' | '/usage' | '/settings'; children: string }) => (
  <Link
    to={to}
    className="rounded-md px-2 py-1 text-dim hover:bg-sunken hover:text-text"
    activeProps={{ className: 'text-text font-medium' }}
  >
    {children}
  </Link>
)

/** The same for narrow screens. */
function PlacesMenu({ onSearch }: { onSearch: () => void }) {
  const navigate = useNavigate()
  const { entries: themes } = useThemeEntries()
  return (
    <span className="lg:hidden">
      <Menu
        label="Navigation"
        kind="ghost"
        size="icon"
        entries={[
          { label: 'Search and commands', onChoose: onSearch },
          { label: 'Machines', onChoose: () => void navigate({ to: '/machines' }) },
          { label: 'Spend', onChoose: () => void navigate({ to: '/usage' }) },
          { label: 'Settings', onChoose: () => void navigate({ to: '/settings' }) },
          ...themes,
        ]}
      >
        <MenuIcon aria-hidden className="size-4" />
      </Menu>
    </span>
  )
}

function NeedsYou() {
  const open = useOpenQuestions()
  return (
    <Link
      to="/needs-you"
      className={classes(
        'flex items-center gap-1.5 rounded-full px-2.5 py-0.5 text-sm whitespace-nowrap',
        open > 0 ? 'bg-warn-bg font-semibold text-warn' : 'text-dim hover:bg-sunken',
      )}
    >
      {open > 0 && <Dot tone="warn" />}
      <span className="max-sm:sr-only">Needs you</span> {open > 0 && open}
    </Link>
  )
}

const icons = { system: Monitor, light: Sun, dark: Moon } as const

function useThemeEntries() {
  const [theme, choose] = useTheme()
  const entries = [
    { label: 'System theme', icon: <Monitor className="size-3.5" />, onChoose: () => choose('system') },
    { label: 'Light theme', icon: <Sun className="size-3.5" />, onChoose: () => choose('light') },
    { label: 'Dark theme', icon: <Moon className="size-3.5" />, onChoose: () => choose('dark') },
  ]
  return { theme, entries }
}

function ThemeMenu() {
  const { theme, entries } = useThemeEntries()
  const Icon = icons[theme]
  return (
    <Menu label={`Theme: ${theme}`} kind="ghost" size="icon" entries={entries}>
      <Icon aria-hidden className="size-4" />
    </Menu>
  )
}
