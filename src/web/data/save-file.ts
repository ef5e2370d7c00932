import { toast } from '../ui/toast.tsx'
import { describeError } from './api.ts'

type SavedFile = { readonly name: string; readonly type: string; readonly content: string }

/** Hands a file to the browser; an error is a toast. */
export async function saveOrToast(create: () => Promise<SavedFile>): Promise<void> {
  try {
    const { name, type, content } = await create()
    const url = URL.createObjectURL(new Blob([content], { type }))
    const link = document.createElement('a')
    link.href = url
    link.download = name
    link.click()
    URL.revokeObjectURL(url)
  } catch (error) {
    toast({ ...describeError(error), bad: true })
  }
}
