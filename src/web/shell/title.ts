import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { questionsQuery } from '../data/queries.ts'
import { countAskingAgents } from '../words/question-context.ts'

/** `(2) Fleet · Ralph`: a background tab shows the number of open questions. */
export function useTitle(title: string): void {
  const open = useOpenQuestions()
  useEffect(() => {
    document.title = `${open > 0 ? `(${open}) ` : ''}${title} · Ralph`
  }, [title, open])
}

export function useOpenQuestions(): number {
  const { data } = useQuery({ ...questionsQuery, enabled: false })
  return countAskingAgents(data ?? [])
}
