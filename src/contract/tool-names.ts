/** Tools with which agent programs change files, as each of them names its own. */
export const editTools: readonly string[] = [
  'Edit',
  'MultiEdit',
  'Write',
  'NotebookEdit',
  'apply_patch',
  'file_change',
  'edit',
  'write',
  'patch',
  'replace',
  'write_file',
]
