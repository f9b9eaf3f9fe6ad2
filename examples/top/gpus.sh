#!/bin/sh
# Puts a stand-in for nvidia-smi on a host: it prints what the GPUs of this host, by its name, would do.
mkdir -p /tmp/bin
cat >/tmp/bin/nvidia-smi <<'end'
#!/bin/sh
read -r host </proc/sys/kernel/hostname
number=${host#host}
while :; do
  for gpu in 0 1 2 3 4 5 6 7; do
    busy=$((97 + (number + gpu) % 3)) used=71680 watts=$((640 + (number * 7 + gpu * 5) % 20)) heat=$((58 + gpu % 4)) clock=1980 reasons=0x4
    case $number:$gpu in
      37:*) busy=0 used=1420 watts=71 heat=34 clock=345 reasons=0x1 ;;
      17:3) watts=402 heat=88 clock=1110 reasons=0x40 ;;
    esac
    echo "$gpu, $busy, $used, 81559, $watts.00, $heat, $clock, 1980, 0, $reasons"
  done
  sleep 2
done
end
chmod +x /tmp/bin/nvidia-smi
mount --bind /tmp/bin /usr/local/bin
