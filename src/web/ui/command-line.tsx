import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from './button.tsx'

/** A command to copy. */
export function CommandLine({ label, command }: { label: string; command: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(command)
    setCopied(true)
  }
  return (
    <div>
      <p className="mb-1 text-sm font-medium text-dim">{label}</p>
      <div className="flex items-center gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 overflow-x-auto font-mono text-sm whitespace-nowrap">{command}</code>
        <IconButton label={copied ? 'Copied' : 'Copy'} onClick={() => void copy()}>
          {copied ? <Check aria-hidden className="size-3.5 text-ok" /> : <Copy aria-hidden className="size-3.5" />}
        </IconButton>
      </div>
    </div>
  )
}
