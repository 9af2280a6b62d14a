/** System calls by architecture, as `[x64, arm64]`; null if it does not exist. */
type Numbers = readonly [x64: number | null, arm64: number | null];

/** Group of calls that do no harm to files of a process's own. */
export const filesOfOwn = "marks on files, which Landlock lets through";

/** Refused with any arguments, grouped by what a program could do with them. */
export const refusedCalls: Record<string, readonly Numbers[]> = {
  "any connection, in or out (also UDP and raw sockets, which Landlock does not know)": [
    [41, 198], // socket
    [42, 203], // connect
    [49, 200], // bind
    [50, 201], // listen
    [43, 202], // accept
    [288, 242], // accept4
  ],
  "the memory or the files of another process": [
    [101, 117], // ptrace
    [310, 270], // process_vm_readv
    [311, 271], // process_vm_writev
    [440, 440], // process_madvise
    [448, 448], // process_mrelease
    [434, 434], // pidfd_open
    [438, 438], // pidfd_getfd
    [424, 424], // pidfd_send_signal
    [312, 272], // kcmp
  ],
  "a signal that names its target in another way than `kill`": [
    [200, 130], // tkill
    [129, 138], // rt_sigqueueinfo
    [297, 240], // rt_tgsigqueueinfo
  ],
  "input and output past this filter": [
    [425, 425], // io_uring_setup
    [426, 426], // io_uring_enter
    [427, 427], // io_uring_register
  ],
  "a process of its own, or another program": [
    [57, null], // fork
    [58, null], // vfork
    [322, 281], // execveat
  ],
  "other namespaces and other mounts": [
    [272, 97], // unshare
    [308, 268], // setns
    [165, 40], // mount
    [166, 39], // umount2
    [155, 41], // pivot_root
    [161, 51], // chroot
    [428, 428], // open_tree
    [429, 429], // move_mount
    [430, 430], // fsopen
    [431, 431], // fsconfig
    [432, 432], // fsmount
    [433, 433], // fspick
    [442, 442], // mount_setattr
    [304, 265], // open_by_handle_at
    [303, 264], // name_to_handle_at
  ],
  [filesOfOwn]: [
    [90, null], // chmod
    [91, 52], // fchmod
    [268, 53], // fchmodat
    [452, 452], // fchmodat2
    [92, null], // chown
    [93, 55], // fchown
    [94, null], // lchown
    [260, 54], // fchownat
    [188, 5], // setxattr
    [189, 6], // lsetxattr
    [190, 7], // fsetxattr
    [197, 14], // removexattr
    [198, 15], // lremovexattr
    [199, 16], // fremovexattr
    [463, 463], // setxattrat
    [466, 466], // removexattrat
    [469, 469], // file_setattr
    [132, null], // utime
    [235, null], // utimes
    [261, null], // futimesat
    [280, 88], // utimensat
    [76, 45], // truncate
  ],
  "memory that outlives the process": [
    [29, 194], // shmget
    [30, 196], // shmat
    [64, 190], // semget
    [68, 186], // msgget
    [240, 180], // mq_open
    [250, 219], // keyctl
    [248, 217], // add_key
    [249, 218], // request_key
  ],
  "the kernel itself": [
    [321, 280], // bpf
    [298, 241], // perf_event_open
    [323, 282], // userfaultfd
    [246, 104], // kexec_load
    [320, 294], // kexec_file_load
    [175, 105], // init_module
    [313, 273], // finit_module
    [176, 106], // delete_module
    [169, 142], // reboot
    [167, 224], // swapon
    [168, 225], // swapoff
    [164, 170], // settimeofday
    [227, 112], // clock_settime
    [305, 266], // clock_adjtime
    [159, 171], // adjtimex
    [170, 161], // sethostname
    [171, 162], // setdomainname
    [163, 89], // acct
    [103, 116], // syslog
    [179, 60], // quotactl
    [300, 262], // fanotify_init
    [172, null], // iopl
    [173, null], // ioperm
    [154, null], // modify_ldt
    [135, 92], // personality
  ],
  "how others are scheduled": [
    [141, 140], // setpriority
    [142, 118], // sched_setparam
    [144, 119], // sched_setscheduler
    [314, 274], // sched_setattr
    [203, 122], // sched_setaffinity
    [251, 30], // ioprio_set
  ],
};

/** Refused unless the first argument is the process itself, or 0 where that means the process. */
export const selfOnlyCalls: readonly Numbers[] = [
  [62, 129], // kill: the parent and its other children
  [234, 131], // tgkill
];

/** Refused for a native interpreter in addition: it needs none of them after its start. */
export const refusedNative: readonly Numbers[] = [
  [59, 221], // execve
  [53, 199], // socketpair
  [319, 279], // memfd_create
  [447, 447], // memfd_secret
  [133, null], // mknod
  [259, 33], // mknodat
];

/** Allowed only for threads, because a process would outlive the jailer's timer. */
export const clone: Numbers = [56, 220];

/** Its flags are in memory, which a filter cannot read: ENOSYS makes the C library use `clone`. */
export const clone3: Numbers = [435, 435];

/** Refused if it would disable the signal on the parent's death, which the jailer set. */
export const prctl: Numbers = [157, 167];

/** Adds the second filter. */
export const seccomp: Numbers = [317, 277];

/** Refused for executable memory, once all code is loaded. */
export const mapping: readonly Numbers[] = [
  [9, 222], // mmap
  [10, 226], // mprotect
  [329, 288], // pkey_mprotect
];

/** Needed by a runtime at its start but never by a program: refused when all is loaded, with any arguments. */
export const refusedLoaded: Record<string, readonly Numbers[]> = {
  "any file, also those in which the kernel tells of the machine": [
    [2, null], // open
    [257, 56], // openat
    [437, 437], // openat2
    [85, null], // creat
    [78, null], // getdents
    [217, 61], // getdents64
    [319, 279], // memfd_create
    [447, 447], // memfd_secret
  ],
  "whether a file is there, which Landlock tells": [
    [4, null], // stat
    [6, null], // lstat
    [262, 79], // newfstatat
    [332, 291], // statx
    [21, null], // access
    [269, 48], // faccessat
    [439, 439], // faccessat2
    [89, null], // readlink
    [267, 78], // readlinkat
    [137, 43], // statfs
    [138, 44], // fstatfs
    [191, 8], // getxattr
    [192, 9], // lgetxattr
    [194, 11], // listxattr
    [195, 12], // llistxattr
    [464, 464], // getxattrat
    [465, 465], // listxattrat
    [80, 49], // chdir
    [81, 50], // fchdir
    [79, 17], // getcwd
    [83, null], // mkdir
    [258, 34], // mkdirat
    [84, null], // rmdir
    [87, null], // unlink
    [263, 35], // unlinkat
    [82, null], // rename
    [264, 38], // renameat
    [316, 276], // renameat2
    [86, null], // link
    [265, 37], // linkat
    [88, null], // symlink
    [266, 36], // symlinkat
    [133, null], // mknod
    [259, 33], // mknodat
    [254, 27], // inotify_add_watch
  ],
  "which machine this is": [
    [63, 160], // uname
    [99, 179], // sysinfo
    [457, 457], // statmount
    [458, 458], // listmount
  ],
  "another program, or another life": [
    [59, 221], // execve
    [157, 167], // prctl
    [160, 164], // setrlimit
    [317, 277], // seccomp
    [53, 199], // socketpair
  ],
};

/** Limits of another process; refused unless the first argument is 0. */
export const prlimit: Numbers = [302, 261];

/** Returns the numbers for this machine's architecture. */
export const platformNumbers = (numbers: readonly Numbers[]): number[] =>
  numbers.map(([x64, arm64]) => (process.arch === "x64" ? x64 : arm64)).filter((number) => number !== null);
